import { cachedLink } from '../../../store/codehost/link-index.ts';
import { hasPull, readPull } from '../../../store/codehost/pulls.ts';
import type { Review } from '../../../store/records/review.ts';
import { isEnded } from '../../../store/records/session.ts';
import { sessionsOf } from '../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../store/store.ts';
import { isRestoring, rebaseUnderWay } from '../../code/worktrees/rebase/rebase-state.ts';
import { isOpen } from '../../host/pull-requests/record.ts';
import { FEEDBACK } from '../../host/reviews/feedback-session.ts';
import { reviewsOf } from '../../host/reviews/read.ts';
import type { WithEngine } from '../../work/sessions/live/engine.ts';
import { type AboutCase, type AttentionEntry, post } from './entry.ts';

/** A rebase that stopped, unless a session is running. */
export const conflictEntries = (
  { store, engine }: WithEngine & WithStore,
  { id }: AboutCase,
): AttentionEntry[] => {
  const conflict = rebaseUnderWay(store, id);
  const { step } = conflict?.matter ?? {};
  if (conflict === undefined || (step !== 'conflicted' && step !== 'interrupted')) return [];
  if ([...engine.live.values()].some(({ case_id }) => case_id === id)) return [];
  const { matter } = conflict;
  const isStop = step === 'conflicted';
  const since = matter.conflicted_at ?? matter.began_at;
  return [
    {
      id: `conflict/${matter.id}/${isRestoring(conflict) ? 'changes' : (matter.stopped?.number ?? 0)}`,
      kind: 'conflict',
      since,
      message: isStop
        ? `The rebase onto ${matter.onto} stopped: ${matter.files
            .map(({ path }) => path)
            .slice(0, 5)
            .join(', ')} in conflict. Resolve them in the worktree, then apply.`
        : 'The rebase was interrupted. Abort it to restore the branch.',
      answer: post(`/api/cases/${id}/conflicts/${isStop ? 'apply' : 'abort'}`),
    },
  ];
};

/** Reviews that request changes and failing checks, unless a session addresses them. */
export const reviewEntries = ({ store }: WithStore, { id }: AboutCase): AttentionEntry[] => {
  // Most Work items have no pull request; the index saves reading the file.
  if (!hasPull(store, id)) return [];
  const pull = readPull(store, id);
  if (pull === undefined || !isOpen(pull.matter.state)) return [];
  const reviews = reviewsOf(store, pull);
  const at = `/api/cases/${id}/pr`;
  const asking = reviews.filter(({ blocking, feedback }) => blocking && feedback === null);
  const queued = reviews.filter(({ feedback }) => feedback === 'queued');
  const isAtThem = (sessionsOf(store, id) ?? []).some(
    ({ session: { type, status } }) => type === FEEDBACK && !isEnded(status),
  );
  const found = asking.map((review): AttentionEntry => {
    const { submitted_at, fetched_at } = review;
    return {
      id: `review/${id}/${review.id}`,
      kind: 'review',
      since: timeOf(submitted_at ?? fetched_at ?? pull.matter.created_at),
      message: review.check === null ? wordsOf(review) : checkWords(review.check),
      answer: post(`${at}/reviews/${encodeURIComponent(review.id)}/add-to-feedback`),
    };
  });
  const [first] = queued;
  if (first === undefined || isAtThem) return found;
  return [
    ...found,
    {
      id: `feedback/${id}/${first.queued_at}`,
      kind: 'feedback',
      since: timeOf(first.queued_at),
      message: `${queued.length} of the pull request's reviews are queued for a session.`,
      answer: post(`${at}/address-feedback`, {}),
    },
  ];
};

/** An issue that changed both here and on the host, as of the last sync. */
export const linkEntries = ({ store }: WithStore, { id }: AboutCase): AttentionEntry[] => {
  const { value, written_at } = cachedLink(store, id) ?? {};
  if (value?.issue?.status !== 'conflict') return [];
  const { repository, number } = value.issue;
  return [
    {
      id: `sync/${id}/${repository}#${number}`,
      kind: 'sync',
      since: new Date(written_at ?? 0).toISOString(),
      message: `${repository}#${number} changed here and on the host. This call keeps the local version; with "remote" it takes the host's.`,
      answer: post(`/api/cases/${id}/github/sync`, { prefer: 'local' }),
    },
  ];
};

const wordsOf = ({ author, path, body }: Review): string =>
  `${author ?? 'A reviewer'} asks for changes${path === null ? '' : ` on ${path}`}: ${body.slice(0, 200)}`;

const checkWords = ({ name, conclusion, step }: NonNullable<Review['check']>): string =>
  `The check ${name} ended with ${conclusion}${step === null ? '.' : ` in step ${step.number}: ${step.name}`}`;

// Adds the milliseconds that the host's times may lack.
const timeOf = (text: string | null | undefined): string => new Date(text ?? 0).toISOString();
