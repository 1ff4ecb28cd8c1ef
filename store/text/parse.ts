import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { isScalar } from 'yaml';
import { type FrontMatter, mapOf, parseFrontMatter } from './front-matter.ts';
import { type Place, Problem } from './problem.ts';

/**
 * Checks front matter against its schema; what does not fit is a Problem at the key's line. Compiled when first used:
 * most starts of the daemon read no record of most kinds. (The only place in store/ that is generic over a schema.)
 */
export const checkerOf = <S extends TSchema>(
  schema: S,
): ((data: unknown, source: FrontMatter) => Static<S>) => {
  let validator: Validator | undefined;
  return (data, source) => {
    validator ??= Compile(schema);
    if (validator.Check(data)) return data as Static<S>;
    const [error] = validator.Errors(data);
    throw problemAt(source, error as unknown as CheckError);
  };
};

/** From a record's text to its checked front matter; throws the Problem. */
export const parsing =
  <T>(check: (data: unknown, source: FrontMatter) => T) =>
  (text: string): T => {
    const source = parseFrontMatter(text);
    return check(source.data, source);
  };

interface CheckError {
  keyword: string;
  instancePath: string;
  message: string;
  params: Record<string, unknown>;
}

const problemAt = (source: FrontMatter, error: CheckError): Problem => {
  const missing =
    error.keyword === 'required' ? String([error.params.requiredProperties].flat()[0]) : undefined;
  const path = [...error.instancePath.split('/').slice(1), missing ?? []].flat();
  const what = missing === undefined ? wording(error) : 'is missing';
  return new Problem('not_a_record', `${path.join('.')}: ${what}`, placeOf(source, path[0] ?? ''));
};

const wording = ({ message, params }: CheckError): string =>
  Array.isArray(params.allowedValues)
    ? `must be one of ${params.allowedValues.join(', ')}`
    : message;

/** Line and column in the file of an offset in its YAML. */
export const placeAt = ({ yaml }: Pick<FrontMatter, 'yaml'>, offset: number): Place => {
  const before = yaml.slice(0, offset).split('\n');
  return { line: before.length + 1, column: (before.at(-1)?.length ?? 0) + 1 };
};

/** Line and column of a key in the file. */
export const placeOf = ({ yaml, document }: FrontMatter, key: string): Place => {
  const pair = mapOf(document).items.find(
    ({ key: found }) => isScalar(found) && found.value === key,
  );
  const range = isScalar(pair?.key) ? pair.key.range : undefined;
  return placeAt({ yaml }, range?.[0] ?? 0);
};
