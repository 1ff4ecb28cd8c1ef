import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type PlanComment,
  readComments,
  withComment,
  withCommentReplaced,
} from '../../../../store/base/comments.ts';
import { visible } from '../../../../store/base/visible.ts';
import { NotStored, PageContext } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { FormError } from '../problems.tsx';
import { type CommentsState, readDrafts, storeDraft } from './comments-file.ts';
import type { PlacedComment } from './places.ts';

/** The comments of the session. */
export const CommentsContext = createContext<CommentsState & { sid: string }>({
  sid: '',
  text: '',
  isOpen: false,
  change: async () => undefined,
});

/** A comment that was not sent, which can be edited or removed. */
export const UnsentComment = ({ comment }: { comment: PlanComment }) => {
  const { sid, change, isOpen } = useContext(CommentsContext);
  const [edits, setEdits] = useState(false);
  const [failure, setFailure] = useState<string | undefined>();
  const place = `${comment.quote}\n\n${comment.text}`;
  useEffect(() => setEdits(readDrafts(sid)[place] !== undefined), [place]);
  const other = (said: string) =>
    change((file) => {
      const found = sameIn(file, comment);
      return found && withCommentReplaced(file, found, said);
    });
  if (edits)
    return (
      <CommentForm place={place} from={comment.text} save={other} close={() => setEdits(false)} />
    );
  return (
    <div class="comment unsent">
      <p class="said-by">Your unsent comment</p>
      <Markdown text={comment.text} />
      <FormError error={failure} />
      {isOpen && (
        <div class="line">
          <button type="button" class="small" onClick={() => setEdits(true)}>
            Edit comment
          </button>
          <button type="button" class="small" onClick={() => void other('').then(setFailure)}>
            Remove
          </button>
        </div>
      )}
    </div>
  );
};

const sameIn = (file: string, { quote, text }: PlanComment): PlanComment | undefined =>
  readComments(file).unsent.find((one) => one.quote === quote && one.text === text);

/** A comment of the last round, with its quote if the text changed. */
export const PreviousComment = ({ comment, wasOther }: PlacedComment) => (
  <div class="comment">
    <p class="said-by">
      {wasOther
        ? 'Your comment on the previous version, on:'
        : 'Your comment on the previous version'}
    </p>
    {wasOther && comment.quote !== '' && <Quote text={comment.quote} />}
    <Markdown text={comment.text} />
  </div>
);

export const Quote = ({ text }: { text: string }) => (
  <blockquote class="as-written quote">{visible(text)}</blockquote>
);

interface FormProps {
  /** The place that its draft is stored under. */
  place: string;
  from?: string;
  save: (said: string) => Promise<string | undefined>;
  close: () => void;
  /** The form restores a draft, so it does not take the focus. */
  isBack?: boolean;
}

/** A form for a comment. Its text is stored in the browser until it is saved. */
const CommentForm = ({ place, from = '', save, close, isBack = false }: FormProps) => {
  const { sid } = useContext(CommentsContext);
  const { down } = useContext(PageContext);
  const field = useRef<HTMLTextAreaElement>(null);
  const [said, setSaid] = useState(() => readDrafts(sid)[place] ?? from);
  const [failure, setFailure] = useState<string | undefined>();
  // Before the next key, which is meant for the field.
  useLayoutEffect(() => {
    if (!isBack && field.current !== null) goTo(field.current);
  }, []);
  // An error may be gone once the daemon responds again.
  useEffect(() => setFailure(undefined), [down === undefined]);
  const [isStored, setStored] = useState(true);
  const put = (text: string) => {
    setSaid(text);
    setStored(storeDraft(sid, place, text));
  };
  const toRow = (): void => field.current?.closest<HTMLElement>('[data-row]')?.focus();
  const cancel = (): void => {
    storeDraft(sid, place, '');
    toRow();
    close();
  };
  const send = async (): Promise<void> => {
    if (said.trim() === '') return field.current?.focus();
    const why = await save(said);
    if (why === undefined) cancel();
    else setFailure(why);
  };
  const onKeyDown = ({ key, ctrlKey, metaKey }: KeyboardEvent): void => {
    if (key === 'Enter' && (ctrlKey || metaKey)) void send();
    if (key !== 'Escape') return;
    // An unsaved comment prevents an approval, so it stays on the page.
    if (said === from || said.trim() === '') cancel();
    else toRow();
  };
  return (
    <div class="comment writing">
      <FormError error={failure} />
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="Changes to make (Markdown). Ctrl+Enter saves"
        value={said}
        onInput={({ currentTarget }) => put(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {!isStored && <NotStored />}
      <div class="line">
        <button type="button" class="primary" onClick={() => void send()}>
          Save comment
        </button>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </div>
  );
};

/** Moves to an unsaved comment on this page, if there is one. */
export const goToUnsaved = (): boolean => {
  const field = document.querySelector<HTMLTextAreaElement>('.comment.writing textarea');
  if (field !== null) goTo(field);
  return field !== null;
};

const goTo = (field: HTMLTextAreaElement): void => {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  field.parentElement?.scrollIntoView({ block: 'nearest' });
};

interface NewProps {
  quote: string;
  /** Tells parts with the same text apart: `line 9, 2 of 3`. */
  which?: string | undefined;
  close: () => void;
  isBack?: boolean;
}

/** A form for a new comment on a part. */
export const NewComment = ({ quote, which, close, isBack = false }: NewProps) => {
  const { change } = useContext(CommentsContext);
  const place = which === undefined ? '' : `(${which}) `;
  return (
    <CommentForm
      place={quote}
      isBack={isBack}
      save={(said) => change((file) => withComment(file, quote, `${place}${said}`))}
      close={close}
    />
  );
};
