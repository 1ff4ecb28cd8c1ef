import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type PlanComment,
  readComments,
  withComment,
  withOther,
} from '../../../../store/base/comments.ts';
import { visible } from '../../../../store/base/visible.ts';
import { InFrame } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { type CommentsNow, draftsOf, keepDraft } from './comments-file.ts';

interface Commented extends CommentsNow {
  sid: string;
}

/** The comments that the page is about. */
export const InComments = createContext<Commented>({
  ...{ sid: '', text: '', isOpen: false },
  change: async () => undefined,
});

/** A comment that was not sent yet, with what can be done to it. */
export const Unsent = ({ comment }: { comment: PlanComment }) => {
  const { sid, change, isOpen } = useContext(InComments);
  const [edits, setEdits] = useState(false);
  const [told, setTold] = useState<string | undefined>();
  const place = `${comment.quote}\n\n${comment.text}`;
  useEffect(() => setEdits(draftsOf(sid)[place] !== undefined), [place]);
  const other = (said: string) =>
    change((file) => {
      const found = sameIn(file, comment);
      return found && withOther(file, found, said);
    });
  if (edits)
    return (
      <CommentForm place={place} from={comment.text} save={other} close={() => setEdits(false)} />
    );
  return (
    <div class="comment unsent">
      <p class="said-by">Your comment, not sent yet</p>
      <Markdown text={comment.text} />
      {told !== undefined && (
        <p class="box error" role="alert">
          {told}
        </p>
      )}
      {isOpen && (
        <div class="line">
          <button type="button" class="small" onClick={() => setEdits(true)}>
            Edit comment
          </button>
          <button type="button" class="small" onClick={() => void other('').then(setTold)}>
            Remove
          </button>
        </div>
      )}
    </div>
  );
};

const sameIn = (file: string, { quote, text }: PlanComment): PlanComment | undefined =>
  readComments(file).unsent.find((one) => one.quote === quote && one.text === text);

/** A comment of the last round, with the wording that it was made on where that is another now. */
export const Earlier = ({ comment, wasOther }: { comment: PlanComment; wasOther: boolean }) => (
  <div class="comment">
    <p class="said-by">
      {wasOther ? 'You said of the version before, of:' : 'You said of the version before'}
    </p>
    {wasOther && comment.quote !== '' && <Quote text={comment.quote} />}
    <Markdown text={comment.text} />
  </div>
);

export const Quote = ({ text }: { text: string }) => (
  <blockquote class="as-written quote">{visible(text)}</blockquote>
);

interface FormProps {
  /** By what it is known until it is saved. */
  place: string;
  from?: string;
  save: (said: string) => Promise<string | undefined>;
  close: () => void;
  /** It is there again with what was typed before: who looks at the page goes on where they are. */
  isBack?: boolean;
}

/** What is typed is kept in the browser until it is in the file. */
const CommentForm = ({ place, from = '', save, close, isBack = false }: FormProps) => {
  const { sid } = useContext(InComments);
  const { problem } = useContext(InFrame);
  const field = useRef<HTMLTextAreaElement>(null);
  const [said, setSaid] = useState(() => draftsOf(sid)[place] ?? from);
  const [told, setTold] = useState<string | undefined>();
  // At once: what is typed next is for it, and no key of the page.
  useLayoutEffect(() => {
    if (!isBack && field.current !== null) goTo(field.current);
  }, []);
  // What was tried while the daemon did not answer can be tried again.
  useEffect(() => setTold(undefined), [problem === undefined]);
  const put = (text: string) => {
    setSaid(text);
    keepDraft(sid, place, text);
  };
  const toRow = (): void => {
    const row = field.current?.closest<HTMLElement>('[data-row]');
    close();
    row?.focus();
  };
  const leave = (): void => {
    keepDraft(sid, place, '');
    toRow();
  };
  const send = async (): Promise<void> => {
    if (said.trim() === '') return field.current?.focus();
    const why = await save(said);
    if (why === undefined) leave();
    else setTold(why);
  };
  const onKeyDown = ({ key, ctrlKey, metaKey }: KeyboardEvent): void => {
    if (key === 'Enter' && (ctrlKey || metaKey)) void send();
    if (key === 'Escape') toRow();
  };
  return (
    <div class="comment writing">
      {told !== undefined && (
        <p class="box error" role="alert">
          {told}
        </p>
      )}
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="What should be another way. Markdown; Ctrl+Enter saves"
        value={said}
        onInput={({ currentTarget }) => put(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="line">
        <button type="button" class="primary" onClick={() => void send()}>
          Save comment
        </button>
        <button type="button" onClick={leave}>
          Cancel
        </button>
      </div>
    </div>
  );
};

const goTo = (field: HTMLTextAreaElement): void => {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  field.parentElement?.scrollIntoView({ block: 'nearest' });
};

interface NewProps {
  quote: string;
  /** Which of those with this wording is meant, if there are several: `line 9, 2 of 3`. */
  which?: string;
  close: () => void;
  isBack?: boolean;
}

/** Writes a new comment on a wording. */
export const NewComment = ({ quote, which, close, isBack = false }: NewProps) => {
  const { change } = useContext(InComments);
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
