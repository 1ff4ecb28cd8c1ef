import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { orElse } from '../base/attempt.ts';
import { type Complaint, misfitOf, placeOfPath } from './complaints.ts';
import { type FrontMatter, parseFrontMatter } from './front-matter.ts';
import type { TextPosition } from './problem.ts';

const validators = new WeakMap<TSchema, Validator>();

/** Compiled when first used: most starts of the daemon read no record of most kinds. */
export const validatorOf = (schema: TSchema): Validator => {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
};

/** Checks front matter against its schema; what does not fit is a Problem at its line. */
export const checkerOf =
  <S extends TSchema>(schema: S) =>
  (data: unknown, source: FrontMatter): Static<S> => {
    const validator = validatorOf(schema);
    if (validator.Check(data)) return data as Static<S>;
    throw misfitOf(source, validator.Errors(data) as unknown as Complaint[]);
  };

/** From a record's text to its checked front matter; throws the Problem. */
export const parserOf = <S extends TSchema>(schema: S): ((text: string) => Static<S>) => {
  const check = checkerOf(schema);
  return (text) => {
    const source = parseFrontMatter(text);
    return check(source.data, source);
  };
};

/** The value of a line of JSON; undefined for one that does not fit: it is never in the way of the others. */
export const lineParserOf =
  <S extends TSchema>(schema: S) =>
  (line: string): Static<S> | undefined => {
    const value: unknown = orElse(() => JSON.parse(line), undefined);
    return validatorOf(schema).Check(value) ? (value as Static<S>) : undefined;
  };

/** Line and column of a key in the file. */
export const positionOf = (source: FrontMatter, key: string): TextPosition =>
  placeOfPath(source, [key]);
