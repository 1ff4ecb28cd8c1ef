import { relative } from 'node:path';
import type { Static, TSchema } from 'typebox';
import type { Layout } from '../layout.ts';
import { validatorOf } from './parse.ts';
import { Problem } from './problem.ts';
import { readRegularFile, unreadable } from './record-file.ts';

/**
 * A record of this machine, kept as JSON; undefined when there is none. An agent may be able to reach the file, so it is
 * checked at every reading: one that is no such record is `unreadable_record`.
 */
export const readJson = <T>(
  layout: Layout,
  path: string,
  check: (value: unknown) => T,
): T | undefined => {
  const bytes = readRegularFile(layout.root, path);
  if (bytes === undefined) return undefined;
  try {
    return check(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem('not_json', 'It is not JSON');
    throw unreadable(relative(layout.root, path), problem);
  }
};

/** The value itself, when it fits the schema; a Problem that names the place when not. */
export const checkedBy = <S extends TSchema>(schema: S, value: unknown): Static<S> => {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return value as Static<S>;
  const [error] = validator.Errors(value);
  throw new Problem('not_a_record', `${error?.instancePath || '/'} ${error?.message ?? ''}`);
};
