import { visible } from '../../../store/base/visible.ts';
import type { ToldReview } from '../../../store/codehost/reviews.ts';
import { storable } from '../../../store/front-matter/text.ts';
import type { FailingCheck, HostReview, JobLog, ReviewThread } from '../../codehost/code-host.ts';
import { capText } from '../../text/cap-text.ts';
import { asOneLine } from '../../work/cases/text.ts';

/** What the host tells of a pull request's reviews and threads, in the form of their records. */
export const toldReviews = (
  pull: number,
  reviews: readonly HostReview[],
  threads: readonly ReviewThread[],
): ToldReview[] => [
  // One that is not submitted yet is its author's own draft.
  ...reviews.flatMap((review) => (review.state === 'pending' ? [] : ofReview(pull, review))),
  ...threads.map((thread) => ofThread(pull, thread)),
];

const ofReview = (pull: number, review: HostReview): ToldReview => {
  const { author, url, commit, submitted_at, body } = review;
  return {
    matter: {
      ...{ id: `review:${review.number}`, pull, state: decisionOf(review), author, url },
      ...{ submitted_at, commit },
      comments: body === '' ? [] : [{ author, url, created_at: submitted_at }],
    },
    texts: body === '' ? [] : [body],
  };
};

const decisionOf = ({ state }: HostReview) => (state === 'pending' ? 'commented' : state);

const ofThread = (pull: number, thread: ReviewThread): ToldReview => {
  const { node_id, resolved, outdated, path, line, start_line } = thread;
  const [first] = thread.comments;
  const { comments, left_out } = fitting(thread.comments);
  return {
    matter: {
      ...{ id: `thread:${node_id}`, pull, state: resolved ? 'resolved' : 'unresolved' },
      ...{ author: first?.author ?? null, url: first?.url ?? null },
      ...{ submitted_at: first?.created_at ?? null, path, line, start_line, outdated },
      comments: comments.map(({ author, url, created_at }) => ({ author, url, created_at })),
      left_out,
    },
    texts: comments.map(({ body }) => body),
  };
};

type Comments = ReviewThread['comments'];

/** The comment that began a thread and the newest ones, as many as one record holds. */
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

/** A check that fails, of that commit, in the form of its record. What it says is not its author's alone to say: all is seen. */
export const toldCheck = (
  { pull, commit }: { pull: number; commit: string },
  check: FailingCheck,
  { step, end, why }: JobLog,
): ToldReview => {
  const { id, conclusion, url, at } = check;
  const author = check.app === null ? null : nameOf(check.app);
  const said = visible(capText(check.said, MOST_SAID).output);
  const own = { author, url, created_at: at };
  return {
    matter: {
      ...{ id: `check:${id}`, pull, state: 'failing', author, url, submitted_at: at, commit },
      check: {
        ...{ name: nameOf(check.name), conclusion },
        ...{ step: step && { ...step, name: nameOf(step.name) }, log_missing: why },
      },
      comments: end === null ? [own] : [own, { author: 'End of the log' }],
    },
    texts: end === null ? [said] : [said, end],
  };
};

const nameOf = (text: string): string =>
  storable([...asOneLine(text)].slice(0, LONGEST_NAME).join(''));
