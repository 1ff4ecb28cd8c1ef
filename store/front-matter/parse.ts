import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { orElse } from '../base/attempt.ts';
import { positionOfPath, type SchemaError, schemaProblem } from './complaints.ts';
import { type FrontMatter, parseFrontMatter } from './front-matter.ts';
import type { TextPosition } from './problem.ts';

const validators = new WeakMap<TSchema, Validator>();

/** The validator of a schema, compiled when first used: most starts read few kinds of records. */
export const validatorOf = (schema: TSchema): Validator => {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
};

/** Checks front matter against a schema; throws a Problem with the line of each error. */
export const checkerOf =
  <S extends TSchema>(schema: S) =>
  (data: unknown, source: FrontMatter): Static<S> => {
    const validator = validatorOf(schema);
    if (validator.Check(data)) return data as Static<S>;
    throw schemaProblem(source, validator.Errors(data) as unknown as SchemaError[]);
  };

/** Parses and checks a record's front matter; throws a Problem. */
export const parserOf = <S extends TSchema>(schema: S): ((text: string) => Static<S>) =>
  parserWith(checkerOf(schema));

/** The same with a check of its own. */
export const parserWith =
  <T>(check: (data: unknown, source: FrontMatter) => T) =>
  (text: string): T => {
    const source = parseFrontMatter(text);
    return check(source.data, source);
  };

/** Parses and checks a line of JSON; undefined if it is invalid, so that it does not hide the others. */
export const lineParserOf =
  <S extends TSchema>(schema: S) =>
  (line: string): Static<S> | undefined => {
    const value: unknown = orElse(() => JSON.parse(line), undefined);
    return validatorOf(schema).Check(value) ? (value as Static<S>) : undefined;
  };

/** Line and column of a key in the file. */
export const positionOf = (source: FrontMatter, key: string): TextPosition =>
  positionOfPath(source, [key]);
