import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { ServiceError } from '../../errors.ts';

/** For a write whose result is unknown. */
export const mayBeMade = (about: string, host: string): string =>
  `The change may have been made: check ${about} on ${host} before you try again.`;

/** The host answered, but with something that cannot be used. `why` continues a sentence. */
export const unusable = (
  host: string,
  about: string,
  why: string,
  { write = false, cause }: { write?: boolean; cause?: unknown } = {},
): ServiceError =>
  new ServiceError(
    'codehost_upstream',
    `The response of ${host} for ${about} cannot be used: ${why}. ${write ? mayBeMade(about, host) : `Check that api_url in workspace.md, or GITHUB_API_URL, is the URL of the API of ${host}, then try again.`}`,
    { members: { host_status: 200, ...(write && { outcome: 'unknown' }) }, cause },
  );

const MOST_TOLD = 5;

/** What `form` makes of each value of the host; undefined for a value of another form. */
export const formedBy = <T, R>(
  values: readonly T[],
  form: (value: T) => R | Promise<R>,
): Promise<(R | undefined)[]> =>
  Promise.all(
    values.map(async (value) => {
      try {
        return await form(value);
      } catch (error) {
        if (isOfForm(error)) return undefined;
        throw error;
      }
    }),
  );

// The two are of Octokit, for a list without its position.
const isOfForm = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof Error && /^Missing(?:PageInfo|CursorChangeError)$/.test(error.name));

/** Reads an answer of the host. Throws what `fail` makes of it if it cannot be read because of its form. */
export const readable = <T>(
  read: Promise<T>,
  fail: (why: string, cause: unknown) => ServiceError,
): Promise<T> =>
  read.catch((error: unknown) => {
    throw isOfForm(error) ? fail('it has an unexpected form', error) : error;
  });

/** Reads what decides about a write, which was not sent where the answer is of another form. */
export const readFirst = <T>(
  { host, about }: { host: string; about: string },
  read: Promise<T>,
): Promise<T> => readable(read, (why, cause) => unusable(host, about, why, { cause }));

/** An id of the host for a path. Throws what `formedBy` takes for another form, as no request has such a path. */
export const pathId = (id: unknown): number => {
  if (Number.isSafeInteger(id) && Number(id) > 0) return Number(id);
  throw new TypeError('the id must be a positive integer');
};

/** The values with the fields of the schema, and clauses that tell the first of the others, which are `what`. */
export const usableOf = <T>(
  schema: TSchema,
  values: readonly (T | undefined)[],
  what: string,
): { usable: T[]; unread: string[] } => {
  const faults = values.map((value) => faultOf(schema, value));
  const about = (at: number): string => `${what} ${at + 1} of ${values.length} cannot be used`;
  const unread = faults.flatMap((why, at) => (why === undefined ? [] : `${about(at)}: ${why}`));
  const more = unread.length - MOST_TOLD;
  return {
    usable: values.filter(
      (value, at): value is T => faults[at] === undefined && value !== undefined,
    ),
    unread: [...unread.slice(0, MOST_TOLD), ...(more > 0 ? [`and ${more} more`] : [])],
  };
};

/** Which field of a value is missing or of another type; undefined if none is. */
const faultOf = (schema: TSchema, value: unknown): string | undefined => {
  if (Check(schema, value)) return undefined;
  const [{ instancePath, message } = { instancePath: '', message: 'is wrong' }] = Errors(
    schema,
    value,
  );
  return `${instancePath.slice(1).replaceAll('/', '.') || 'it'} ${message}`;
};

/** The value as it is. Throws 502 `codehost_upstream` where a field is missing or of another type. */
export const checked = <S extends TSchema>(
  schema: S,
  value: unknown,
  fail: (why: string) => ServiceError,
): Static<S> => {
  const why = faultOf(schema, value);
  if (why !== undefined) throw fail(why);
  return value as Static<S>;
};
