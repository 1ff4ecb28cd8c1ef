import { useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import { Copy } from './copy.tsx';
import { type Comment, feedbackOf } from './diff-kept.ts';
import { oneLine } from './diff-rows.ts';
import { Do } from './do.tsx';

interface WriteProps {
  about: Omit<Comment, 'text'>;
  onDone: (comment: Comment | undefined) => void;
}

interface Typed {
  preventDefault: () => void;
  currentTarget: unknown;
}

const placeOf = ({ path, from, to, isOld }: Omit<Comment, 'text'>): string =>
  `${oneLine(path)}:${from === to ? from : `${from}-${to}`}${isOld ? ', as it was before' : ''}`;

/** Where a comment on some lines is written. */
export const WriteComment = ({ about, onDone }: WriteProps) => {
  const [text, setText] = useState('');
  const onSubmit = (event: Typed): void => {
    event.preventDefault();
    if (text.trim() !== '') onDone({ ...about, text });
  };
  const onInput = ({ currentTarget }: Typed) => setText((currentTarget as { value: string }).value);
  return (
    <form class="box diff-write" onSubmit={onSubmit}>
      <label>
        {`Comment on ${placeOf(about)}`}
        <textarea
          required
          maxLength={4000}
          value={text}
          onInput={onInput}
          ref={(field) => (field as { focus: () => void } | null)?.focus()}
        />
      </label>
      <div class="line">
        <button type="submit" class="primary">
          Keep comment
        </button>
        <button type="button" onClick={() => onDone(undefined)}>
          Cancel
        </button>
      </div>
    </form>
  );
};

interface CommentsProps {
  comments: readonly Comment[];
  /** The session of the Work item whose plan waits, to which comments can be sent. */
  waiting: { id: string; sid: string } | undefined;
  onRemove: (at: number | undefined) => void;
}

/** What is to be told to the agent: kept in this browser until it is removed. */
export const DiffComments = ({ comments, waiting, onRemove }: CommentsProps) => {
  if (comments.length === 0) return null;
  return (
    <section class="diff-comments">
      <h2>{`Comments (${comments.length})`}</h2>
      <ol>
        {comments.map((comment, at) => (
          <li key={`${at} ${placeOf(comment)}`}>
            <div class="line">
              <code>{placeOf(comment)}</code>
              <button
                type="button"
                aria-label={`Remove the comment on ${placeOf(comment)}`}
                onClick={() => onRemove(at)}
              >
                Remove
              </button>
            </div>
            <p class="as-written">{visible(comment.text)}</p>
          </li>
        ))}
      </ol>
      <Feedback text={feedbackOf(comments)} {...{ waiting, onRemove }} />
    </section>
  );
};

type FeedbackProps = Pick<CommentsProps, 'waiting' | 'onRemove'> & { text: string };

/** The most that a plan is sent back with. */
const MOST = 20_000;

const Feedback = ({ text, waiting, onRemove }: FeedbackProps) => {
  return (
    <>
      <div class="line">
        <Copy text={text} label="Copy as text" />
        <button type="button" onClick={() => onRemove(undefined)}>
          Remove all
        </button>
      </div>
      {waiting === undefined ? (
        <p class="quiet">
          No plan of this Work item waits. Start a session: while its plan waits, these comments can
          be sent to it from here. They are kept in this browser.
        </p>
      ) : (
        <Do
          call={`POST /cases/${waiting.id}/sessions/${waiting.sid}/revise`}
          then={`/dashboard/cases/${waiting.id}/sessions/${waiting.sid}/plan`}
          class="fields"
        >
          <label>
            Feedback to the plan that waits
            <textarea key={text} class="code" name="comment" required maxLength={MOST}>
              {text}
            </textarea>
          </label>
          <button type="submit" class="primary">
            Send as feedback
          </button>
        </Do>
      )}
    </>
  );
};
