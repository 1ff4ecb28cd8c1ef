import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import type { Api } from '../common/page.ts';
import { toldOf } from '../common/send-form.ts';
import { InFrame, InReach } from '../parts/form.tsx';
import { type Editor, openEditor } from './codemirror.ts';
import { type OnDisk, useDisk } from './disk.ts';
import { keepTyped, type Typed, typedIn } from './kept.ts';
import { type Serving, serve, writtenIn } from './language.ts';

export interface EditorProps {
  id: string;
  path: string;
  /** The worktree. */
  root: string;
  /** As it was when it was opened. */
  file: OnDisk;
  /** Of the file as the page knows it now: another one is a reason to look. */
  etag: string | undefined;
}

/** A file of the worktree in an editor. What is typed and not saved is kept in this browser. */
export const FileEditor = (props: EditorProps) => {
  const bar = useRef<HTMLButtonElement>(null);
  const open = useOpenFile(props, () => bar.current?.focus());
  const { disk, typed, box, server, theirs, isComparing } = open;
  return (
    <section class="file-editor" aria-label="Editor">
      <div class="line">
        <button type="button" class="primary" data-key="s" ref={bar} onClick={open.save}>
          {theirs === undefined ? 'Save' : 'Save this text over it'}
        </button>
        <button type="button" data-key="b" aria-pressed={isComparing} onClick={open.compare}>
          Compare with the base
        </button>
        <strong role="status">
          {typed.isChanged ? 'Not saved' : 'Saved'}
          {!typed.isKept && '. This browser has no room to keep it: save before you leave'}
        </strong>
        <span class="quiet">Ctrl+S saves, Ctrl+F searches, Escape leaves the text.</span>
      </div>
      {server !== undefined && <p class="quiet file-server">{visible(server)}</p>}
      {disk.said !== undefined && (
        <p class="box error" role="alert">
          {visible(disk.said)}
        </p>
      )}
      {theirs !== undefined && <Theirs of={theirs} onTake={() => open.take(theirs)} />}
      <div class="file-box" ref={box} />
    </section>
  );
};

const Theirs = ({ of: { etag }, onTake }: { of: OnDisk; onTake: () => void }) => (
  <div class="box warn" role="alert">
    {etag === undefined ? (
      'The file was deleted on disk. Its text stays here: to save makes it again.'
    ) : (
      <>
        <p>
          The file changed on disk while you have text here that is not saved. Both stand below:
          take what you want of each difference, then save.
        </p>
        <button type="button" onClick={onTake}>
          Take all that is on disk
        </button>
      </>
    )}
  </div>
);

/** The file, the text over it, and what is on disk meanwhile: how one is made the other. */
const useOpenFile = (props: EditorProps, onLeave: () => void) => {
  const { id, path, root, file, etag } = props;
  const [kept] = useState(() => typedIn(props, file.content));
  const disk = useDisk(props, file, kept);
  const typed = useTyped(props, kept, disk.seen);
  const [isComparing, setComparing] = useState(false);
  const isTold = typed.isChanged || disk.theirs?.etag === undefined;
  const theirs = isTold ? disk.theirs : undefined;
  const take = (there: OnDisk): void => {
    disk.settle(there);
    typed.begun(there, there.content);
    editor.current?.put(there.content);
  };
  const write = async (): Promise<void> => {
    const text = editor.current?.text();
    const there = text === undefined ? undefined : await disk.save(text);
    if (there !== undefined) typed.begun(there, editor.current?.text() ?? there.content);
  };
  const { box, editor, server } = useEditor({
    ...{ id, path, root, onLeave, text: kept?.text ?? file.content, onChange: typed.change },
    // Over what was told meanwhile it is saved by the button alone.
    onSave: () => void (theirs === undefined ? write() : disk.check()),
  });
  useEffect(() => {
    if (etag !== disk.seen.etag) disk.check();
  }, [etag]);
  // What nobody typed over is shown as it is now.
  useEffect(() => {
    if (disk.theirs?.etag !== undefined && !typed.isChanged) take(disk.theirs);
  }, [disk.theirs]);
  useBeside({ id, path, editor, theirs, isComparing });
  const save = (): void => {
    if (theirs !== undefined) disk.settle(theirs);
    void write();
  };
  const compare = () => setComparing(!isComparing);
  return { disk, typed, box, server, theirs, isComparing, take, save, compare };
};

/** What was typed, against what is on disk; kept over a reload. */
const useTyped = ({ id, path }: EditorProps, kept: Typed | undefined, seen: OnDisk) => {
  const [isChanged, setChanged] = useState(kept !== undefined);
  const [isKept, setKept] = useState(true);
  const over = useRef(seen);
  over.current = seen;
  const change = (text: string): void => {
    const { content, etag } = over.current;
    const isOther = text !== content;
    setChanged(isOther);
    setKept(keepTyped(id, path, isOther ? { text, etag } : undefined));
  };
  /** This is on disk, and that in the editor. */
  const begun = (there: OnDisk, text: string): void => {
    over.current = there;
    change(text);
  };
  return { isChanged, isKept, change, begun };
};

interface Using {
  id: string;
  path: string;
  root: string;
  text: string;
  onChange: (text: string) => void;
  onSave: () => void;
  onLeave: () => void;
}

/** The editor itself, with its language and its language server, from when it is shown until it is left. */
const useEditor = (using: Using) => {
  const api = useContext(InReach) as Api;
  const { nonce } = useContext(InFrame);
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const on = useRef(using);
  on.current = using;
  const [server, setServer] = useState<string>();
  useEffect(() => {
    const { path, text } = using;
    const made = openEditor({
      ...{ parent: box.current as HTMLElement, path, text, nonce },
      onChange: () => on.current.onChange(made.text()),
      onSave: () => on.current.onSave(),
      onLeave: () => on.current.onLeave(),
    });
    editor.current = made;
    made.focus();
    const { support } = writtenIn(path);
    void support?.().then((language) => made.extend('language', language));
    const leave = joinServer(api, using, { editor: made, say: setServer });
    return () => {
      leave();
      made.end();
    };
  }, []);
  return { box, editor, server };
};

interface Joining {
  editor: Editor;
  say: (words: string | undefined) => void;
}

const joinServer = (
  api: Api,
  { id, root, path }: Using,
  { editor, say }: Joining,
): (() => void) => {
  const { server: language, as } = writtenIn(path);
  if (language === undefined || as === undefined) return () => undefined;
  let [isLeft, serving] = [false, undefined as Serving | undefined];
  const onGone = (why: string): void => {
    if (isLeft) return;
    editor.extend('server', []);
    say(`The language server left${why === '' ? '' : `: ${why}`}. Load the page to ask it again.`);
  };
  say('The language server is asked…');
  serve(api, { id, root, path, language, as, onGone }).then(
    (came) => {
      serving = came;
      if (isLeft) return came.leave();
      editor.extend('server', came.extension);
      say('The language server completes, explains and checks.');
    },
    (error: Error) => say(`${error.message} The editor works without.`),
  );
  return () => {
    isLeft = true;
    serving?.leave();
  };
};

interface BesideWhat {
  id: string;
  path: string;
  editor: { current: Editor | undefined };
  theirs: OnDisk | undefined;
  isComparing: boolean;
}

/** What stands beside the text: what is on disk where that changed, else the base if one wants to see it. */
const useBeside = ({ id, path, editor, theirs, isComparing }: BesideWhat): void => {
  const api = useContext(InReach) as Api;
  useEffect(() => {
    const { current } = editor;
    if (theirs?.etag !== undefined) return current?.beside({ text: theirs.content, ...THEIRS });
    if (!isComparing) return current?.beside(undefined);
    const query = { path, which: 'base' as const };
    void api.call('GET /cases/{id}/editor/files', { id, query }).then(
      ({ content }) => current?.beside({ text: content, ...BASE }),
      // What the base has not is new, all of it.
      (error: unknown) => toldOf(error).status === 404 && current?.beside({ text: '', ...BASE }),
    );
  }, [theirs, isComparing]);
};

const THEIRS = { reject: 'Take what is on disk', accept: 'Keep mine' };
const BASE = { reject: 'As in the base' };
