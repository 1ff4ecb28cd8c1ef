import { useState } from 'preact/hooks';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm } from '../form.tsx';
import { Copy } from '../links.tsx';
import { type Comment, feedbackOf } from './review-state.ts';
import { oneLine } from './rows.ts';

interface WriteProps {
  about: Omit<Comment, 'text'>;
  onDone: (comment: Comment | undefined) => void;
}

interface Typed {
  preventDefault: () => void;
  currentTarget: unknown;
}

const placeOf = ({ path, from, to, isOld }: Omit<Comment, 'text'>): string =>
  `${oneLine(path)}:${from === to ? from : `${from}-${to}`}${isOld ? ', old version' : ''}`;

/** A form for a comment on lines. */
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
          value={text}
          onInput={onInput}
          ref={(field) => (field as { focus: () => void } | null)?.focus()}
        />
      </label>
      <div class="line">
        <button type="submit" class="primary">
          Save comment
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
  /** The Work item's id. */
  id: string;
  /** The session's type, also for a new session. */
  type: string;
  /** The session with a plan to review, which comments can be sent to. */
  waiting: string | undefined;
  onRemove: (at: number | undefined) => void;
}

/**
 * Comments on a diff. Unlike those on a plan, which are in comments.md, no file has them: this browser stores them
 * until they are removed.
 */
export const DiffComments = ({ comments, onRemove, ...rest }: CommentsProps) => {
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
      <Feedback text={feedbackOf(comments)} onRemove={onRemove} {...rest} />
    </section>
  );
};

type FeedbackProps = Omit<CommentsProps, 'comments'> & { text: string };

const Feedback = ({ text, id, type, waiting, onRemove }: FeedbackProps) => {
  const sessions = `/cases/${id}/sessions`;
  return (
    <>
      <div class="line">
        <Copy text={text} label="Copy as text" />
        <button type="button" onClick={() => onRemove(undefined)}>
          Remove all
        </button>
      </div>
      {waiting === undefined ? (
        <ApiForm
          call={`POST ${sessions}`}
          body={{ type }}
          then={`/dashboard${sessions}/{id}`}
          class="fields"
        >
          <Words text={text} label="Feedback for a new session" />
          <button type="submit" class="primary">
            Start session with this feedback
          </button>
        </ApiForm>
      ) : (
        <ApiForm
          call={`POST ${sessions}/${waiting}/revise`}
          then={`/dashboard${sessions}/${waiting}/plan`}
          class="fields"
        >
          <Words text={text} label="Feedback on the plan" />
          <button type="submit" class="primary">
            Request changes
          </button>
        </ApiForm>
      )}
      <p class="quiet">The comments stay in this browser until you remove them.</p>
    </>
  );
};

const Words = ({ text, label }: { text: string; label: string }) => (
  <label>
    {label}
    <textarea key={text} class="code" name="comment" required>
      {text}
    </textarea>
  </label>
);
