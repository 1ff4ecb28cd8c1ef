import type { StoredReview, ToldReview } from '../../../store/pulls/reviews.ts';
import type { HostedRepository, Pull } from '../../codehost/code-host.ts';
import type { FailingCheck, JobLog } from '../../codehost/failing-check.ts';
import { toldCheck } from './told.ts';

interface Failing {
  failing: ToldReview[];
  /** Why some are not among them; null where all are. */
  checks_unread: string | null;
}

/** Logs that are read at once: each is some requests, and time. */
const MOST_LOGS = 10;

/**
 * What fails of a pull request's head, each as its record is to be. A log that is kept is not read again: a run that is
 * over says nothing more.
 */
export const checkRecords = async (
  hosted: HostedRepository,
  { number, head_sha: commit, checks }: Pull,
  known: readonly StoredReview[],
): Promise<Failing> => {
  // Nobody is asked what fails where nothing does.
  if (checks === null || checks === 'success') return { failing: [], checks_unread: null };
  const told = await hosted.failingChecks(commit);
  let left = MOST_LOGS;
  const logOf = async (check: FailingCheck): Promise<JobLog> => {
    if (check.job === null) return NO_LOG;
    const kept = keptLog(known, check);
    if (kept !== undefined) return kept;
    left -= 1;
    return left < 0 ? LATER : hosted.jobLog(check.job);
  };
  const failing = told.checks.map(async (check) =>
    toldCheck({ pull: number, commit }, check, await logOf(check)),
  );
  const unread = [...new Set(told.unread)].join(' ');
  return { failing: await Promise.all(failing), checks_unread: unread === '' ? null : unread };
};

const NO_LOG: JobLog = { step: null, end: null, why: null };
const LATER: JobLog = {
  ...NO_LOG,
  why: `Not read yet: ${MOST_LOGS} logs are read at once. List the reviews again to read more.`,
};

const keptLog = (known: readonly StoredReview[], { id }: FailingCheck): JobLog | undefined => {
  const kept = known.find(({ matter }) => matter.id === `check:${id}`);
  const end = kept?.texts[1];
  return end === undefined ? undefined : { step: kept?.matter.check?.step ?? null, end, why: null };
};
