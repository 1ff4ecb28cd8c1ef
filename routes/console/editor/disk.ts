import { useRef, useState } from 'preact/hooks';
import { Problem } from '../../../lib/client/client.ts';
import { problemSummary, problemText } from '../common/send-form.ts';
import { browserApi } from '../parts/form.tsx';
import { readStored, writeStored } from '../parts/storage.ts';
import { useWindow } from '../parts/use-window.ts';

/** A file of the worktree as last read. */
export interface DiskFile {
  content: string;
  /** undefined if there is no file. */
  etag: string | undefined;
}

interface Place {
  id: string;
  path: string;
}

interface Known {
  /** The version that the editor's text is based on. */
  seen: DiskFile;
  /** The version on disk, if it is another one. */
  theirs?: DiskFile | undefined;
  /** The error of the last read or save. */
  errorMessage?: string | undefined;
}

/** The file on disk. A save never overwrites a version that the operator has not seen. */
export const useDisk = (place: Place, given: DiskFile, typed: UnsavedText | undefined) => {
  const [now, setNow] = useState(() => initialState(given, typed));
  const known = useRef(now);
  const put = (change: Partial<Known>): void => {
    known.current = { ...known.current, ...change };
    setNow(known.current);
  };
  const reload = async (): Promise<void> => {
    const there = await readOnDisk(place);
    const { seen } = known.current;
    if (there.etag === seen.etag) put({ theirs: undefined });
    else if (there.content === seen.content && there.etag !== undefined)
      put({ seen: there, theirs: undefined });
    else put({ theirs: there });
  };
  const check = () =>
    void reload().catch((error: unknown) => put({ errorMessage: errorText(error) }));
  // Changes of worktree files raise no event, so the file is read again when the window gets the focus.
  useWindow('focus', check);
  const save = async (text: string): Promise<DiskFile | undefined> => {
    try {
      const etag = await write(place, { content: text, etag: known.current.seen.etag });
      const there = { content: text, etag };
      put({ seen: there, theirs: undefined, errorMessage: undefined });
      return there;
    } catch (error) {
      if (!isConflict(error)) put({ errorMessage: errorText(error) });
      else await reload().catch((failed: unknown) => put({ errorMessage: errorText(failed) }));
      return undefined;
    }
  };
  /** Accepts a version as the base: the next save replaces it. */
  const settle = (seen: DiskFile): void =>
    put({ seen, theirs: undefined, errorMessage: undefined });
  return { ...now, check, save, settle };
};

// Unsaved text that is based on an older version is compared with the current one.
const initialState = (given: DiskFile, typed: UnsavedText | undefined): Known =>
  typed === undefined || typed.etag === given.etag
    ? { seen: given }
    : { seen: { content: '', etag: typed.etag }, theirs: given };

const readOnDisk = async ({ id, path }: Place): Promise<DiskFile> => {
  try {
    const answer = await browserApi.request('GET /cases/{id}/editor/files', {
      id,
      query: { path },
    });
    const { content, binary } = answer.data as { content: string; binary: boolean };
    if (binary) throw new Error('The file on disk is now binary. Your text is kept here.');
    return { content, etag: answer.etag };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return { content: '', etag: undefined };
    throw error;
  }
};

const write = async (
  { id, path }: Place,
  { content, etag }: DiskFile,
): Promise<string | undefined> => {
  const made =
    etag === undefined
      ? await browserApi.request('POST /cases/{id}/editor/files', { id, body: { path, content } })
      : await browserApi.request('PUT /cases/{id}/editor/files', {
          id,
          query: { path },
          body: { content },
          ifMatch: etag,
        });
  return made.etag;
};

// The file was written, deleted or created in the meantime.
const isConflict = (error: unknown): boolean =>
  error instanceof Problem &&
  (error.status === 412 || error.status === 404 || error.code === 'already_exists');

const errorText = (error: unknown): string => {
  if (!(error instanceof Problem) && error instanceof Error && error.name === 'Error')
    return error.message;
  return problemText(problemSummary(error));
};

/** Text that is typed in an editor and not saved, with the version of the file that it is based on. */
export interface UnsavedText {
  text: string;
  /** The ETag of that version; undefined if there was no file. */
  etag?: string | undefined;
}

const storageKey = ({ id, path }: Place): string => `dossier.file.${id}.${path}`;

/** The unsaved text of a file that this browser stores, if it differs from the content. */
export const readUnsaved = (place: Place, content: string): UnsavedText | undefined => {
  const stored = readStored<UnsavedText>(storageKey(place));
  return typeof stored?.text === 'string' && stored.text !== content ? stored : undefined;
};

/** Stores the unsaved text, or removes it. False if the browser cannot store it. */
export const storeUnsaved = (place: Place, unsaved: UnsavedText | undefined): boolean =>
  writeStored(storageKey(place), unsaved);
