import { ServiceError } from '../../errors.ts';
import type { JobLog } from '../code-host.ts';
import { isTrustedDownloadUrl } from './address.ts';
import { apiPath, type HostContext, hostClient, type RepositoryContext } from './client.ts';
import type { RequestContext } from './failure.ts';
import { follow, redirectOf, TimedOut, withTimeout } from './fetch.ts';
import { createLogTail, type StepTimes } from './log-tail.ts';
import { timedOut, unreachable } from './refusals.ts';

/** The failed step of an Actions job and the end of its log. If the log cannot be read, `why` says so. */
export const jobLog = async (place: RepositoryContext, job: number): Promise<JobLog> => {
  let step: JobLog['step'] = null;
  try {
    const failed = await failedStep(place, job);
    if (failed === undefined) return { step, end: null, why: 'No step of the job failed.' };
    const { number, name } = failed;
    step = { number, name };
    return { step, end: await endOf(place, job, failed), why: null };
  } catch (error) {
    if (error instanceof ServiceError) return { step, end: null, why: wordsOf(error) };
    throw error;
  }
};

// GitHub keeps logs for 90 days by default.
const wordsOf = ({ code, message }: ServiceError): string =>
  code === 'codehost_gone' || code === 'codehost_not_found'
    ? 'The log has expired, or the token has no permission to read it.'
    : `The log could not be read. ${message}`;

interface Step extends StepTimes {
  number: number;
  name: string;
}

const failedStep = async (place: RepositoryContext, job: number): Promise<Step | undefined> => {
  const { api } = await hostClient(place);
  const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}';
  const { data } = await api.request(route, { ...apiPath(place), job_id: job });
  const found = data.steps?.find(
    ({ conclusion }) => conclusion !== null && !PASSED.has(conclusion),
  );
  if (found === undefined) return undefined;
  const { number, name, started_at = null, completed_at = null } = found;
  return { number, name, started_at, completed_at };
};

const PASSED = new Set(['success', 'skipped', 'neutral']);

const endOf = async (place: RepositoryContext, job: number, step: StepTimes): Promise<string> => {
  const { api, base } = await hostClient(place);
  const { headers } = await api.request('GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs', {
    ...apiPath(place),
    job_id: job,
    request: { redirect: 'manual' },
  });
  const end = createLogTail(step);
  await readElsewhere(place.context, { address: headers.location ?? '', base }, end.take);
  return end.read();
};

interface Download {
  /** The URL given by the host. It may contain a signature, so it appears in no message. */
  address: string;
  /** The base URL of the host's API. */
  base: string;
}

/**
 * Reads a text on a storage server of the host in chunks until `take` returns `enough`. Sends no token, and follows
 * redirects only to trusted download URLs. Throws a ServiceError `codehost_…` with the reason if reading fails.
 */
const readElsewhere = async (
  { fetch, seconds }: Pick<HostContext, 'fetch' | 'seconds'>,
  { address, base }: Download,
  take: (text: string) => 'more' | 'enough',
): Promise<void> => {
  if (!isTrustedDownloadUrl(address, base)) throw new ServiceError('codehost_gateway', NOWHERE);
  const question = questionOf(address);
  const isSafe = (to: URL): boolean => isTrustedDownloadUrl(to.href, base);
  try {
    await withTimeout(seconds(), async (signal) => {
      const init: RequestInit = { method: 'GET', redirect: 'manual', signal };
      const answer = await follow(fetch, { url: address, init, isSafe });
      await readText(wholesome(answer), take);
    });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw error instanceof TimedOut
      ? timedOut(error.seconds, question)
      : unreachable(error, question);
  }
};

const questionOf = (address: string): RequestContext => {
  const { host, origin } = new URL(address);
  return { host, base: origin, about: 'a log', write: false, source: null };
};

const NOWHERE =
  'The code host gave a download URL that is not allowed: only https is, and not on this machine.';

const refused = (why: string): ServiceError =>
  new ServiceError('codehost_gateway', `The storage server ${why}.`);

const wholesome = (answer: Response): Response => {
  const { status, headers } = answer;
  if (status === 404 || status === 410)
    throw new ServiceError('codehost_gone', 'The log has expired.');
  if (redirectOf(answer) !== null) throw refused('redirected to a URL that is not allowed');
  if (status !== 200) throw refused(`responded with ${status}`);
  // A login page must not be taken for a log.
  if (headers.get('content-type')?.includes('html')) throw refused('responded with a web page');
  return answer;
};

// More than a job of several hours writes; counted after decompression.
const MOST_BYTES = 128 * 1024 * 1024;

const readText = async (
  { body }: Response,
  take: (text: string) => 'more' | 'enough',
): Promise<void> => {
  const decoder = new TextDecoder();
  let size = 0;
  // Leaving the loop cancels the rest of the download.
  for await (const bytes of body ?? []) {
    size += bytes.byteLength;
    if (size > MOST_BYTES) throw refused(`sent more than ${MOST_BYTES / 1024 / 1024} MiB`);
    if (take(decoder.decode(bytes, { stream: true })) === 'enough') return;
  }
  take(decoder.decode());
};
