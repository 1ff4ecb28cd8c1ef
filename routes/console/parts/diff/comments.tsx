import { useLayoutEffect, useRef } from 'preact/hooks';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, type Draft, NotStored, storeAgain } from '../form.tsx';
import { Copy } from '../links.tsx';
import {
  type Comment,
  feedbackOf,
  feedbackSince,
  feedbackWith,
  type Writing,
} from './review-state.ts';
import { oneLine } from './rows.ts';

interface WriteProps extends Writing {
  /** The text is that of an earlier visit, so it does not take the focus. */
  isBack: boolean;
  isStored: boolean;
  onType: (text: string) => void;
  /** Called with the comment, or with nothing to cancel. */
  onDone: (comment?: Comment) => void;
}

export const placeOf = ({ path, from, to, isOld }: Omit<Comment, 'text'>): string =>
  `${oneLine(path)}:${from === to ? from : `${from}-${to}`}${isOld ? ', old version' : ''}`;

/** A form for a comment on lines. */
export const WriteComment = ({ about, text, isBack, isStored, onType, onDone }: WriteProps) => {
  const field = useRef<HTMLTextAreaElement>(null);
  // Before the next key, which is meant for the field.
  useLayoutEffect(() => {
    if (!isBack) field.current?.focus();
  }, [about]);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '') onDone({ ...about, text });
  };
  return (
    <form class="box diff-write" onSubmit={onSubmit}>
      <label>
        {`Comment on ${placeOf(about)}`}
        <textarea
          ref={field}
          required
          value={text}
          onInput={({ currentTarget }) => onType(currentTarget.value)}
        />
      </label>
      {!isStored && <NotStored />}
      <div class="line">
        <button type="submit" class="primary">
          Save comment
        </button>
        <button type="button" onClick={() => onDone()}>
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
  /** The session of the diff. */
  sid: string;
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
export const DiffComments = ({ isStored, ...given }: CommentsProps & { isStored: boolean }) => {
  const { comments, onRemove } = given;
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
      {!isStored && <NotStored advice="Send or copy it" />}
      <Feedback {...given} />
    </section>
  );
};

const Feedback = ({ comments, id, sid, type, waiting, onRemove }: CommentsProps) => {
  const sessions = `/cases/${id}/sessions`;
  const isNew = waiting === undefined;
  const { field, onRestore } = useWords(comments);
  return (
    <>
      <div class="line">
        <Copy text={feedbackOf(comments)} label="Copy as text" />
        <button type="button" onClick={() => onRemove(undefined)}>
          Remove all
        </button>
      </div>
      <ApiForm
        call={isNew ? `POST ${sessions}` : `POST ${sessions}/${waiting}/revise`}
        {...(isNew && { body: { type } })}
        then={isNew ? `/dashboard${sessions}/{id}` : `/dashboard${sessions}/${waiting}/plan`}
        keep={`feedback ${sid}`}
        onRestore={onRestore}
        class="fields"
      >
        <label>
          {isNew ? 'Feedback for a new session' : 'Feedback on the plan'}
          <textarea
            ref={field}
            class="code"
            name="comment"
            required
            defaultValue={feedbackOf(comments)}
          />
        </label>
        <button type="submit" class="primary">
          {isNew ? 'Start session with this feedback' : 'Request changes'}
        </button>
      </ApiForm>
      <p class="quiet">The comments stay in this browser until you remove them.</p>
    </>
  );
};

/** The field of the feedback: comments are added to the operator's own words and taken out of them. */
const useWords = (comments: readonly Comment[]) => {
  const field = useRef<HTMLTextAreaElement>(null);
  const before = useRef(comments);
  const put = (text: string): void => {
    if (field.current === null || field.current.value === text) return;
    field.current.value = text;
    storeAgain(field.current);
  };
  useLayoutEffect(() => {
    put(feedbackWith(field.current?.value ?? '', before.current, comments));
    before.current = comments;
  }, [comments]);
  const onRestore = ({ comment }: Draft): void => {
    if (comment !== undefined) put(feedbackSince(comment.typed, comment.over, comments));
  };
  return { field, onRestore };
};
