import { ServiceError } from '../../errors.ts';
import type { JobLog } from '../code-host.ts';
import { isTrustedDownloadUrl } from './address.ts';
import { apiPath, type HostContext, hostClient, type RepositoryContext } from './client.ts';
import type { RequestContext } from './failure.ts';
import { follow, redirectOf, TimedOut, withTimeout } from './fetch.ts';
import { createLogTail, type StepTimes } from './log-tail.ts';
import { silence, timedOut } from './refusals.ts';

/** Where a job of Actions failed, and the end of what was said there. What cannot be read is told in it. */
export const jobLog = async (place: RepositoryContext, job: number): Promise<JobLog> => {
  let step: JobLog['step'] = null;
  try {
    const failed = await failedStep(place, job);
    if (failed === undefined) return { step, end: null, why: 'No step of it failed.' };
    const { number, name } = failed;
    step = { number, name };
    return { step, end: await endOf(place, job, failed), why: null };
  } catch (error) {
    if (error instanceof ServiceError) return { step, end: null, why: wordsOf(error) };
    throw error;
  }
};

// GitHub keeps logs for 90 days, or for as long as the owner says.
const wordsOf = ({ code, message }: ServiceError): string =>
  code === 'codehost_gone' || code === 'codehost_not_found'
    ? 'The log is not kept any more, or may not be seen.'
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

interface Elsewhere {
  /** As the host told it: it may hold a signature, and is repeated to nobody. */
  address: string;
  /** Of the host's API. */
  base: string;
}

/**
 * Reads a text that the host keeps on another server, piece by piece, until `take` has enough. Nobody's token goes there,
 * and redirects only where `isTrustedDownloadUrl` says. Throws a ServiceError `codehost_…` that says why it was not read to its end.
 */
const readElsewhere = async (
  { fetch, seconds }: Pick<HostContext, 'fetch' | 'seconds'>,
  { address, base }: Elsewhere,
  take: (text: string) => 'more' | 'enough',
): Promise<void> => {
  if (!isTrustedDownloadUrl(address, base)) throw new ServiceError('codehost_gateway', NOWHERE);
  const question = questionOf(address);
  const isSafe = (to: string, from: string): boolean =>
    URL.canParse(to, from) && isTrustedDownloadUrl(new URL(to, from).href, base);
  try {
    await withTimeout(seconds(), async (signal) => {
      const init: RequestInit = { method: 'GET', redirect: 'manual', signal };
      const answer = await follow(fetch, { url: address, init, isSafe });
      await readText(wholesome(answer), take);
    });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw error instanceof TimedOut ? timedOut(error.seconds, question) : silence(error, question);
  }
};

const questionOf = (address: string): RequestContext => {
  const { host, origin } = new URL(address);
  return { host, base: origin, about: 'a log', write: false, source: null };
};

const NOWHERE = 'It is said to be where nothing is read: only https is, and on another machine.';

const refused = (why: string): ServiceError =>
  new ServiceError('codehost_gateway', `The server that keeps it ${why}.`);

const wholesome = (answer: Response): Response => {
  const { status, headers } = answer;
  if (status === 404 || status === 410)
    throw new ServiceError('codehost_gone', 'It is not kept any more.');
  if (redirectOf(answer) !== null) throw refused('leads on to another, which is not read');
  if (status !== 200) throw refused(`answered ${status}`);
  // A page to log in at would read like a log.
  if (headers.get('content-type')?.includes('html')) throw refused('answered with a page');
  return answer;
};

// Longer than what a job of hours says; what comes packed counts as it is unpacked.
const MOST_BYTES = 128 * 1024 * 1024;

const readText = async (
  { body }: Response,
  take: (text: string) => 'more' | 'enough',
): Promise<void> => {
  const decoder = new TextDecoder();
  let size = 0;
  // Leaving the loop cancels what is still on its way.
  for await (const bytes of body ?? []) {
    size += bytes.byteLength;
    if (size > MOST_BYTES) throw refused(`has more than ${MOST_BYTES / 1024 / 1024} MiB of it`);
    if (take(decoder.decode(bytes, { stream: true })) === 'enough') return;
  }
  take(decoder.decode());
};
