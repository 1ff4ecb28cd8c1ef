import { visible } from '../../../store/base/visible.ts';
import type { StoredPull } from '../../../store/codehost/pulls.ts';
import {
  type FetchedReview,
  listReviews,
  type StoredReview,
  saveReviews,
} from '../../../store/codehost/reviews.ts';
import { storable } from '../../../store/front-matter/text.ts';
import type { Review, ReviewMatter } from '../../../store/records/review.ts';
import type { Store } from '../../../store/store.ts';
import type {
  FailingCheck,
  HostedRepository,
  HostReview,
  JobLog,
  Pull,
  ReviewThread,
} from '../../codehost/code-host.ts';
import { notFound, orNotFound } from '../../errors.ts';
import { capText } from '../../text/cap-text.ts';
import { asOneLine } from '../../work/cases/text.ts';
import {
  getPull,
  hostedFor,
  type PullNeeds,
  recordPull,
  refuseOther,
  underPullLock,
  warningOf,
} from '../pull-requests/record.ts';
import { kindOf, servedReviews } from './serve.ts';

/**
 * Reads all reviews, threads and failing checks from the host, with the pull request, and records them, oldest first.
 * Throws where the host cannot be read, instead of returning an empty list.
 */
export const fetchReviews = ({ store, codeHost }: PullNeeds, caseId: string): Promise<Review[]> =>
  underPullLock(store, caseId, async () => {
    const pull = getPull(store, caseId);
    const hosted = hostedFor(codeHost, pull);
    const { number } = pull.matter;
    const [now, told, discussed] = await Promise.all([
      hosted.pull(number),
      hosted.reviews(number),
      hosted.threads(number),
    ]);
    // Before the reviews are saved, which are written first: a record that says when they were read has them.
    refuseOther(pull, hosted.name, now);
    const known = listReviews(store, caseId) ?? [];
    const {
      failing,
      checks_unread,
      isUnread: isUnreadCheck,
    } = await checkRecords(hosted, now, known);
    const reviews = [...reviewRecords(number, told.reviews, discussed.threads), ...failing];
    const isUnread = (matter: ReviewMatter): boolean => {
      const kind = kindOf(matter.id);
      if (kind === 'check') return isUnreadCheck(matter);
      return (kind === 'review' ? told : discussed).unread.length > 0;
    };
    const kept = await saveReviews(store, caseId, { pull: number, reviews, isUnread });
    if (kept === undefined) throw notFound('Work item', caseId);
    const reviews_unread = [...told.unread, ...discussed.unread].join('; ') || null;
    const reviews_synced_at = store.clock().toISOString();
    const besides = { reviews_synced_at, checks_unread, reviews_unread };
    const recorded = await recordPull(store, caseId, {
      name: hosted.name,
      pull: now,
      besides,
    });
    return servedReviews(store, recorded, kept);
  });

/** The same for one thread, without the other reviews and checks; undefined if the host does not have it. */
export const fetchThread = (
  { store, codeHost }: PullNeeds,
  caseId: string,
  id: string,
): Promise<Review | undefined> =>
  underPullLock(store, caseId, async () => {
    const pull = getPull(store, caseId);
    const { number } = pull.matter;
    const { threads } = await hostedFor(codeHost, pull).threads(number);
    const reviews = reviewRecords(number, [], threads).filter(({ matter }) => matter.id === id);
    await saveReviews(store, caseId, { pull: number, reviews, isUnread: () => true });
    return reviews.length === 0 ? undefined : reviewsOf(store, pull).find((one) => one.id === id);
  });

/** The reviews as they were when the host was last read. */
export const keptReviews = (store: Store, caseId: string): Review[] =>
  reviewsOf(store, getPull(store, caseId));

/** The recorded reviews of a pull request. */
export const reviewsOf = (store: Store, pull: StoredPull): Review[] =>
  servedReviews(store, pull, listReviews(store, pull.case_id) ?? []);

/** A review by its id; reads the host for an unknown one. Throws 404. */
export const getReview = async (
  service: PullNeeds,
  caseId: string,
  id: string,
): Promise<Review> => {
  const isIt = (review: Review): boolean => review.id === id;
  const kept = keptReviews(service.store, caseId).find(isIt);
  if (kept !== undefined) return kept;
  return orNotFound((await fetchReviews(service, caseId)).find(isIt), 'review', id);
};

interface Failing {
  failing: FetchedReview[];
  /** Why some checks are missing; null where none is. */
  checks_unread: string | null;
  /** Whether a recorded check may fail still, though it was not read. */
  isUnread: (check: ReviewMatter) => boolean;
}

/** The number of logs read in one call, because each takes several requests. */
const MOST_LOGS = 10;

/**
 * The failing checks of a pull request's head as records. A stored log is not read again, because a finished run does
 * not change.
 */
const checkRecords = async (
  hosted: HostedRepository,
  { number, head_sha: commit, checks }: Pull,
  known: readonly StoredReview[],
): Promise<Failing> => {
  // No request is made where no check fails.
  if (checks === null || checks === 'success') return NO_FAILING;
  const told = await hosted.failingChecks(commit);
  let left = MOST_LOGS;
  const logOf = async (check: FailingCheck): Promise<JobLog> => {
    if (check.job === null) return NO_LOG;
    const kept = keptLog(known, check);
    if (kept !== undefined) return kept;
    left -= 1;
    return left < 0 ? LATER : hosted.jobLog(check.job).catch(unreadLog);
  };
  const failing = told.checks.map(async (check) =>
    checkRecord({ pull: number, commit }, check, await logOf(check)),
  );
  const odd = told.odd.length === 0 ? [] : [`Left out: ${told.odd.join('; ')}.`];
  const { runs, app, statuses } = told.read;
  return {
    failing: await Promise.all(failing),
    checks_unread: [...new Set([...told.unread, ...odd])].join(' ') || null,
    isUnread: ({ id, author }) =>
      id.startsWith('check:status-') ? !statuses : !runs && (app === null || author !== app),
  };
};

const NO_FAILING: Failing = { failing: [], checks_unread: null, isUnread: () => false };
const NO_LOG: JobLog = { step: null, end: null, why: null };
const LATER: JobLog = {
  ...NO_LOG,
  why: `Not read yet: at most ${MOST_LOGS} logs are read in one call. List the reviews again to read more.`,
};

const unreadLog = (error: unknown): JobLog => ({
  ...NO_LOG,
  why: warningOf('The log could not be read', error),
});

const keptLog = (known: readonly StoredReview[], { id }: FailingCheck): JobLog | undefined => {
  const kept = known.find(({ matter }) => matter.id === `check:${id}`);
  const end = kept?.texts[1];
  return end === undefined ? undefined : { step: kept?.matter.check?.step ?? null, end, why: null };
};

/** The host's reviews and threads of a pull request as records. */
export const reviewRecords = (
  pull: number,
  reviews: readonly HostReview[],
  threads: readonly ReviewThread[],
): FetchedReview[] => [
  // A pending review is its author's draft.
  ...reviews.flatMap((review) => (review.state === 'pending' ? [] : ofReview(pull, review))),
  ...threads.map((thread) => ofThread(pull, thread)),
];

const ofReview = (pull: number, review: HostReview): FetchedReview => {
  const { author, url, commit, submitted_at, body } = review;
  return {
    matter: {
      id: `review:${review.number}`,
      pull,
      state: decisionOf(review),
      author,
      url,
      submitted_at,
      commit,
      comments: body === '' ? [] : [{ author, url, created_at: submitted_at }],
    },
    texts: body === '' ? [] : [body],
  };
};

const decisionOf = ({ state }: HostReview) => (state === 'pending' ? 'commented' : state);

const ofThread = (pull: number, thread: ReviewThread): FetchedReview => {
  const { node_id, resolved, outdated, path, line, start_line } = thread;
  const [first] = thread.comments;
  const { comments, left_out } = fitting(thread.comments);
  return {
    matter: {
      id: `thread:${node_id}`,
      pull,
      state: resolved ? 'resolved' : 'unresolved',
      author: first?.author ?? null,
      url: first?.url ?? null,
      submitted_at: first?.created_at ?? null,
      path,
      line,
      start_line,
      outdated,
      comments: comments.map(({ author, url, created_at, own }) => ({
        ...{ author, url, created_at },
        ...(own && { own }),
      })),
      left_out,
    },
    texts: comments.map(({ body }) => body),
  };
};

type Comments = ReviewThread['comments'];

/** The first comment of a thread and the newest ones, as many as a record can hold. */
const fitting = ([first, ...answers]: Comments): { comments: Comments; left_out: number } => {
  if (first === undefined) return { comments: [], left_out: 0 };
  const newest: Comments = [];
  let room = MOST_BYTES - sizeOf(first);
  for (const answer of answers.toReversed()) {
    room -= sizeOf(answer);
    if (room < 0 || newest.length === MOST_ANSWERS) break;
    newest.unshift(answer);
  }
  return { comments: [first, ...newest], left_out: answers.length - newest.length };
};

const MOST_BYTES = 900_000;
const MOST_ANSWERS = 150;

const sizeOf = ({ body }: Comments[number]): number => Buffer.byteLength(body) + 200;

const LONGEST_NAME = 200;
const MOST_SAID = 4096;

/** A failing check of a commit as a record. Its text is untrusted, so invisible characters are made visible. */
const checkRecord = (
  { pull, commit }: { pull: number; commit: string },
  check: FailingCheck,
  { step, end, why }: JobLog,
): FetchedReview => {
  const { id, conclusion, url, at } = check;
  const author = check.app === null ? null : nameOf(check.app);
  const said = visible(capText(check.said, MOST_SAID).output);
  const own = { author, url, created_at: at };
  return {
    matter: {
      id: `check:${id}`,
      pull,
      state: 'failing',
      author,
      url,
      submitted_at: at,
      commit,
      check: {
        name: nameOf(check.name),
        conclusion,
        step: step && { ...step, name: nameOf(step.name) },
        log_missing: why,
      },
      comments: end === null ? [own] : [own, { author: 'End of the log' }],
    },
    texts: end === null ? [said] : [said, end],
  };
};

const nameOf = (text: string): string =>
  storable([...asOneLine(text)].slice(0, LONGEST_NAME).join(''));
