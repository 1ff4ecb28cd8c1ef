import { relative } from 'node:path';
import type { Validator } from 'typebox/compile';
import type { Layout } from '../layout.ts';
import { Problem } from '../text/problem.ts';
import { readRegularFile, unreadable } from '../text/record-file.ts';

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

/** The value itself, when its schema's validator takes it; a Problem that names the place when not. */
export const checkedBy = <T>(validator: Validator, value: unknown): T => {
  if (validator.Check(value)) return value as T;
  const [error] = validator.Errors(value);
  throw new Problem('not_a_record', `${error?.instancePath || '/'} ${error?.message ?? ''}`);
};
