import { ServiceError } from '../../errors.ts';
import type { JobLog } from '../failing-check.ts';
import { readElsewhere } from './elsewhere.ts';
import { createLogEnd, type StepTimes } from './log-end.ts';
import { apiPath, hostClient, type RemoteRepositoryAccess } from './place.ts';

/** Where a job of Actions failed, and the end of what was said there. What cannot be read is told in it. */
export const jobLog = async (place: RemoteRepositoryAccess, job: number): Promise<JobLog> => {
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

const failedStep = async (
  place: RemoteRepositoryAccess,
  job: number,
): Promise<Step | undefined> => {
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

const endOf = async (
  place: RemoteRepositoryAccess,
  job: number,
  step: StepTimes,
): Promise<string> => {
  const { api, base } = await hostClient(place);
  const { headers } = await api.request('GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs', {
    ...{ ...apiPath(place), job_id: job, request: { redirect: 'manual' } },
  });
  const end = createLogEnd(step);
  await readElsewhere(place.desk, { address: headers.location ?? '', base }, end.take);
  return end.read();
};
