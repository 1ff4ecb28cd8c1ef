import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { type Complaint, misfitOf, placeOfPath } from './complaints.ts';
import { type FrontMatter, parseFrontMatter } from './front-matter.ts';
import type { Place } from './problem.ts';

/**
 * Checks front matter against its schema; what does not fit is a Problem at its line. Compiled when first used:
 * most starts of the daemon read no record of most kinds. (The only place in store/ that is generic over a schema.)
 */
export const checkerOf = <S extends TSchema>(
  schema: S,
): ((data: unknown, source: FrontMatter) => Static<S>) => {
  let validator: Validator | undefined;
  return (data, source) => {
    validator ??= Compile(schema);
    if (validator.Check(data)) return data as Static<S>;
    throw misfitOf(source, validator.Errors(data) as unknown as Complaint[]);
  };
};

/** From a record's text to its checked front matter; throws the Problem. */
export const parsing =
  <T>(check: (data: unknown, source: FrontMatter) => T) =>
  (text: string): T => {
    const source = parseFrontMatter(text);
    return check(source.data, source);
  };

/** Line and column of a key in the file. */
export const placeOf = (source: FrontMatter, key: string): Place => placeOfPath(source, [key]);
