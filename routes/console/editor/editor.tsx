import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import { problemSummary } from '../common/send-form.ts';
import { browserApi, PageContext } from '../parts/form.tsx';
import { FormError } from '../parts/problems.tsx';
import { type Editor, openEditor } from './codemirror.ts';
import { type DiskFile, readUnsaved, storeUnsaved, type UnsavedText, useDisk } from './disk.ts';
import { type LanguageServer, languageOf, startLanguageServer } from './language.ts';

export interface EditorProps {
  id: string;
  path: string;
  /** The path of the worktree. */
  root: string;
  /** The file when the page was opened. */
  file: DiskFile;
  /** The ETag that the page knows now; another one means that the file is read again. */
  etag: string | undefined;
}

/** Edits a file of the worktree. Unsaved text is stored in this browser. */
export const FileEditor = (props: EditorProps) => {
  const bar = useRef<HTMLButtonElement>(null);
  const open = useOpenFile(props, () => bar.current?.focus());
  const { disk, typed, box, server, theirs, isComparing } = open;
  return (
    <section class="file-editor" aria-label="Editor">
      <div class="line">
        <button type="button" class="primary" data-key="s" ref={bar} onClick={open.save}>
          {theirs === undefined ? 'Save' : 'Overwrite the file'}
        </button>
        <button type="button" data-key="b" aria-pressed={isComparing} onClick={open.compare}>
          Compare with base
        </button>
        <strong role="status">
          {typed.isChanged ? 'Unsaved' : 'Saved'}
          {!typed.isKept && '. The browser cannot store it. Save before you leave this page'}
        </strong>
        <span class="quiet">Ctrl+S saves, Ctrl+F searches, Escape leaves the editor.</span>
      </div>
      {server !== undefined && <p class="quiet file-server">{visible(server)}</p>}
      <FormError error={disk.errorMessage && visible(disk.errorMessage)} />
      {theirs !== undefined && <Theirs of={theirs} onTake={() => open.take(theirs)} />}
      <div class="file-box" ref={box} />
    </section>
  );
};

const Theirs = ({ of: { etag }, onTake }: { of: DiskFile; onTake: () => void }) => (
  <div class="box warn" role="alert">
    {etag === undefined ? (
      'The file was deleted on disk. Your text is kept here. Save it to create the file again.'
    ) : (
      <>
        <p>
          The file changed on disk while you had unsaved text. Choose a version of each difference
          below, then save.
        </p>
        <button type="button" onClick={onTake}>
          Discard my text
        </button>
      </>
    )}
  </div>
);

/** Joins the file on disk, the unsaved text and the editor. */
const useOpenFile = (props: EditorProps, onLeave: () => void) => {
  const { id, path, root, file, etag } = props;
  const [unsaved] = useState(() => readUnsaved(props, file.content));
  const disk = useDisk(props, file, unsaved);
  const typed = useTyped(props, unsaved, disk.seen);
  const [isComparing, setComparing] = useState(false);
  const isDiskShown = typed.isChanged || disk.theirs?.etag === undefined;
  const theirs = isDiskShown ? disk.theirs : undefined;
  const take = (there: DiskFile): void => {
    disk.settle(there);
    typed.reset(there, there.content);
    editor.current?.put(there.content);
  };
  const write = async (): Promise<void> => {
    const text = editor.current?.text();
    const there = text === undefined ? undefined : await disk.save(text);
    if (there !== undefined) typed.reset(there, editor.current?.text() ?? there.content);
  };
  const { box, editor, server } = useEditor({
    id,
    path,
    root,
    onLeave,
    text: unsaved?.text ?? file.content,
    onChange: typed.change,
    // Ctrl+S does not overwrite a version that was just found on disk; only the button does.
    onSave: () => void (theirs === undefined ? write() : disk.check()),
  });
  useEffect(() => {
    if (etag !== disk.seen.etag) disk.check();
  }, [etag]);
  // A file that was not edited follows the disk.
  useEffect(() => {
    if (disk.theirs?.etag !== undefined && !typed.isChanged) take(disk.theirs);
  }, [disk.theirs]);
  useMergeView({ id, path, editor, theirs, isComparing });
  const save = (): void => {
    if (theirs !== undefined) disk.settle(theirs);
    void write();
  };
  const compare = () => setComparing(!isComparing);
  return { disk, typed, box, server, theirs, isComparing, take, save, compare };
};

/** Tracks and stores the unsaved text. */
const useTyped = ({ id, path }: EditorProps, unsaved: UnsavedText | undefined, seen: DiskFile) => {
  const [isChanged, setChanged] = useState(unsaved !== undefined);
  const [isKept, setKept] = useState(true);
  const over = useRef(seen);
  over.current = seen;
  const change = (text: string): void => {
    const { content, etag } = over.current;
    const isOther = text !== content;
    setChanged(isOther);
    setKept(storeUnsaved({ id, path }, isOther ? { text, etag } : undefined));
  };
  /** Sets the version on disk and the text in the editor. */
  const reset = (there: DiskFile, text: string): void => {
    over.current = there;
    change(text);
  };
  return { isChanged, isKept, change, reset };
};

interface EditorOptions {
  id: string;
  path: string;
  root: string;
  text: string;
  onChange: (text: string) => void;
  onSave: () => void;
  onLeave: () => void;
}

/** Creates the editor with its language support and language server, and ends them on unmount. */
const useEditor = (using: EditorOptions) => {
  const { nonce } = useContext(PageContext);
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const on = useRef(using);
  on.current = using;
  const [server, setServer] = useState<string>();
  useEffect(() => {
    const { path, text } = using;
    const made = openEditor({
      parent: box.current as HTMLElement,
      path,
      text,
      nonce,
      onChange: () => on.current.onChange(made.text()),
      onSave: () => on.current.onSave(),
      onLeave: () => on.current.onLeave(),
    });
    editor.current = made;
    made.focus();
    const { support } = languageOf(path);
    void support?.().then((language) => made.extend('language', language));
    const disconnect = connectServer(using, { editor: made, showStatus: setServer });
    return () => {
      disconnect();
      made.end();
    };
  }, []);
  return { box, editor, server };
};

interface ServerTarget {
  editor: Editor;
  showStatus: (words: string | undefined) => void;
}

const connectServer = (
  { id, root, path }: EditorOptions,
  { editor, showStatus }: ServerTarget,
): (() => void) => {
  const { server: language, as } = languageOf(path);
  if (language === undefined || as === undefined) return () => undefined;
  let [isLeft, serving] = [false, undefined as LanguageServer | undefined];
  const onGone = (why: string): void => {
    if (isLeft) return;
    editor.extend('server', []);
    showStatus(
      `The language server ended${why === '' ? '' : `: ${why}`}. Reload the page to start it again.`,
    );
  };
  showStatus('Starting the language server…');
  startLanguageServer({ id, root, path, language, as, onGone }).then(
    (came) => {
      serving = came;
      if (isLeft) return came.disconnect();
      editor.extend('server', came.extension);
      showStatus('The language server is running.');
    },
    (error: Error) => showStatus(`${error.message} You can edit without it.`),
  );
  return () => {
    isLeft = true;
    serving?.disconnect();
  };
};

interface MergeViewProps {
  id: string;
  path: string;
  editor: { current: Editor | undefined };
  theirs: DiskFile | undefined;
  isComparing: boolean;
}

/** Compares with the version on disk if that changed, else with the base if the operator asks for it. */
const useMergeView = ({ id, path, editor, theirs, isComparing }: MergeViewProps): void => {
  useEffect(() => {
    const { current } = editor;
    if (theirs?.etag !== undefined) return current?.beside({ text: theirs.content, ...THEIRS });
    if (!isComparing) return current?.beside(undefined);
    const query = { path, which: 'base' as const };
    void browserApi.call('GET /cases/{id}/editor/files', { id, query }).then(
      ({ content }) => current?.beside({ text: content, ...BASE }),
      // A file that the base does not have is all new.
      (error: unknown) =>
        problemSummary(error).status === 404 && current?.beside({ text: '', ...BASE }),
    );
  }, [theirs, isComparing]);
};

const THEIRS = { reject: 'Use the version on disk', accept: 'Keep mine' };
const BASE = { reject: 'Use the base' };
