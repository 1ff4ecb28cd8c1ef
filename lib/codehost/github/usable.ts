import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { ServiceError } from '../../errors.ts';
import type { HostedRepository } from '../code-host.ts';

/** For a write whose result is unknown. */
export const UNKNOWN = 'The change may have been made: check there before you try again.';

/** The host answered, but with something that cannot be used. `why` continues a sentence. */
export const unusable = (
  host: string,
  about: string,
  why: string,
  { write = false, cause }: { write?: boolean; cause?: unknown } = {},
): ServiceError =>
  new ServiceError(
    'codehost_upstream',
    `The answer of ${host} for ${about} cannot be used: ${why}. ${write ? UNKNOWN : `Check that api_url in workspace.md, or GITHUB_API_URL, leads to the API of ${host}, then try again.`}`,
    { members: { host_status: 200, ...(write && { outcome: 'unknown' }) }, cause },
  );

/** The value as it is. Throws 502 `codehost_upstream` where a field is missing or of another type. */
export const checked = <S extends TSchema>(
  schema: S,
  value: unknown,
  fail: (why: string) => ServiceError,
): Static<S> => {
  if (Check(schema, value)) return value;
  const [{ instancePath, message } = { instancePath: '', message: 'is wrong' }] = Errors(
    schema,
    value,
  );
  throw fail(`${instancePath.slice(1).replaceAll('/', '.') || 'it'} ${message}`);
};

/** The schema of what each call of a repository results in. */
export type Results = { [name in Exclude<keyof HostedRepository, 'name'>]: TSchema | null };

const WRITES = new Set(['createPull', 'updatePull', 'setLabels', 'markReady', 'resolveThread']).add(
  'comment',
);

/**
 * The calls of a repository, whose results have the fields and types that they promise. Otherwise they throw 502
 * `codehost_upstream`, also where the host's answer could not even be read because of its form.
 */
export const withUsableResults = (hosted: HostedRepository, results: Results): HostedRepository => {
  const { host, owner, name } = hosted.name;
  const calls = Object.entries(results).map(([called, schema]) => {
    const call = hosted[called as keyof Results] as (...given: unknown[]) => Promise<unknown>;
    const guarded = async (...given: unknown[]): Promise<unknown> => {
      const number = typeof given[0] === 'number' && called !== 'jobLog' ? `#${given[0]}` : '';
      const fail = (why: string, cause?: unknown): ServiceError =>
        unusable(host, `${owner}/${name}${number}`, why, { write: WRITES.has(called), cause });
      const result = await call(...given).catch((error: unknown) => {
        throw isOfForm(error) ? fail('it has another form than expected', error) : error;
      });
      return schema === null ? result : checked(schema, result, fail);
    };
    return [called, guarded];
  });
  return { ...hosted, ...Object.fromEntries(calls) };
};

// The two are of Octokit, for a list without its position.
const isOfForm = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof Error && /^Missing(?:PageInfo|CursorChangeError)$/.test(error.name));
