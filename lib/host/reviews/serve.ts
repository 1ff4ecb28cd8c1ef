import { sha256 } from '../../../store/base/sha256.ts';
import type { StoredPull } from '../../../store/codehost/pulls.ts';
import type { StoredReview } from '../../../store/codehost/reviews.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import type { Review, ReviewMatter } from '../../../store/records/review.ts';
import { isEnded } from '../../../store/records/session.ts';
import { sessionStatus } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { HostReview } from '../../codehost/code-host.ts';
import { resolvedIn, unresolvedOf } from '../pull-requests/ready-check.ts';

/** The reviews of a pull request as the API returns them, oldest first. */
export const servedReviews = (
  store: Store,
  pull: StoredPull,
  kept: readonly StoredReview[],
): Review[] => {
  const own = kept.filter(({ matter }) => matter.pull === pull.matter.number);
  const stateNow = stateFor(pull.matter);
  const blocking = blockingIn(own.map(({ matter }) => stateNow(matter)));
  const fetched_at = pull.matter.reviews_synced_at ?? null;
  return own
    .map((one) => ({ one, feedback: feedbackOf(store, pull.case_id, one.matter) }))
    .map(({ one, feedback }) => ({
      ...served({ ...one, matter: stateNow(one.matter) }),
      case_id: pull.case_id,
      blocking: blocking.has(one.matter.id),
      feedback: feedback === 'addressed' && othersReplied(one) ? null : feedback,
      fetched_at,
    }))
    .sort(byTime);
};

/** The hash of a review's texts, by which its record says which of them a session has. */
export const textHash = (texts: readonly string[]): string => sha256(JSON.stringify(texts));

/** Whether a review says more than its session was told. The log of a check may be read later and is not news. */
export const hasNews = ({
  matter: { id, told_sha256 },
  texts,
}: Pick<StoredReview, 'matter' | 'texts'>): boolean =>
  told_sha256 != null && kindOf(id) !== 'check' && told_sha256 !== textHash(texts);

// The operator's own replies on the host take nothing back from a thread that was addressed.
const othersReplied = (one: StoredReview): boolean =>
  hasNews(one) && one.matter.told_others_sha256 !== othersHash(one);

/** The hash of what others than the operator say in a review. */
export const othersHash = ({ matter, texts }: StoredReview): string =>
  textHash(texts.filter((_, at) => matter.comments?.[at]?.own !== true));

const byTime = (a: Review, b: Review): number =>
  (a.submitted_at ?? '').localeCompare(b.submitted_at ?? '') || a.id.localeCompare(b.id);

/** A failing check counts only for the current head, while the host still reports it and does not report success. */
const stateFor = ({ head_sha, checks }: PullMatter) => {
  const mayFail = checks === 'failure' || checks === 'pending';
  return (matter: ReviewMatter): ReviewMatter => {
    const { state, on_host, commit } = matter;
    if (state !== 'failing') return matter;
    const isNow = mayFail && on_host !== false && commit === head_sha;
    return isNow ? matter : { ...matter, state: 'superseded' };
  };
};

export const kindOf = (id: string): Review['kind'] => id.split(':')[0] as Review['kind'];

const served = ({
  matter,
  texts,
}: StoredReview): Omit<Review, 'case_id' | 'blocking' | 'feedback' | 'fetched_at'> => {
  const { id, pull, state, left_out = 0, on_host = true, outdated = false } = matter;
  const { author = null, url = null, submitted_at = null, commit = null, path = null } = matter;
  const { line = null, start_line = null, queued_at = null, session_id = null } = matter;
  const kind = kindOf(id);
  const comments = (matter.comments ?? []).map((comment, at) => ({
    author: comment.author ?? null,
    body: texts[at] ?? '',
    url: comment.url ?? null,
    created_at: comment.created_at ?? null,
  }));
  return {
    id,
    kind,
    pull,
    state,
    author,
    body: texts[0] ?? '',
    comments: kind === 'thread' ? comments : [],
    check: kind === 'check' ? checkOf(matter, texts) : null,
    left_out,
    path,
    line,
    start_line,
    outdated,
    url,
    commit,
    submitted_at,
    on_host,
    queued_at,
    session_id,
    resolved_at: matter.resolved_at ?? null,
  };
};

const checkOf = ({ id, check }: ReviewMatter, texts: readonly string[]): Review['check'] => {
  const { name = id, conclusion = 'failure', step = null, log_missing = null } = check ?? {};
  return { name, conclusion, step, log: texts[1] ?? null, log_missing };
};

/** The ids that block on the host, without those that the operator marked as resolved. */
const blockingIn = (all: readonly ReviewMatter[]): Set<string> => {
  const standing = all.filter(({ on_host }) => on_host !== false);
  const reviews = standing.flatMap((matter) => decisionOf(matter) ?? []);
  const threads = standing
    .filter(({ id }) => kindOf(id) === 'thread')
    .map(({ id, state, path, line }) => ({
      node_id: id.slice('thread:'.length),
      resolved: state !== 'unresolved',
      path: path ?? '',
      line: line ?? null,
    }));
  const resolved = resolvedIn(all);
  const failing = standing.filter(({ id, state }) => kindOf(id) === 'check' && state === 'failing');
  const ids = [...unresolvedOf(reviews, threads), ...failing].map(({ id }) => id);
  return new Set(ids.filter((id) => !resolved.has(id)));
};

const decisionOf = ({
  id,
  author = null,
  state,
  submitted_at = null,
}: ReviewMatter): Pick<HostReview, 'number' | 'author' | 'state' | 'submitted_at'> | undefined => {
  if (!isDecision(state)) return undefined;
  return { number: Number(id.slice('review:'.length)), author, state, submitted_at };
};

type Decision = HostReview['state'];
const DECISIONS: readonly string[] = ['approved', 'changes_requested', 'commented', 'dismissed'];
const isDecision = (state: string): state is Decision => DECISIONS.includes(state);

/**
 * The feedback state of a review. The record of its session decides: after an abort or failure the review is queued
 * again.
 */
export const feedbackOf = (
  store: Store,
  caseId: string,
  { queued_at, session_id }: Pick<ReviewMatter, 'queued_at' | 'session_id'>,
): Review['feedback'] => {
  if (queued_at == null) return null;
  if (session_id == null) return 'queued';
  const status = sessionStatus(store, caseId, session_id);
  if (status === 'completed') return 'addressed';
  return status === undefined || isEnded(status) ? 'queued' : 'in_session';
};
