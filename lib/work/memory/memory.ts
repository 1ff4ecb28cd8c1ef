import { isMarkdownName } from '../../../store/base/names.ts';
import { newId } from '../../../store/base/new-id.ts';
import {
  editGlobalMemory,
  memoryFilesOf as keptFiles,
  listGlobalMemory,
  memoryRootOf,
  readGlobalMemory,
  readMemory,
  writeMemory,
} from '../../../store/cases/memory.ts';
import type { TextFile } from '../../../store/front-matter/text-file.ts';
import type { Snapshot, SnapshotEntry } from '../../../store/records/snapshot.ts';
import { type HeldLock, listHeldLocks } from '../../../store/sessions/locks.ts';
import type { Store } from '../../../store/store.ts';
import {
  createSnapshot,
  readSnapshots as keptSnapshots,
  readSnapshot,
  type TaggedSnapshot,
} from '../../../store/worktrees/snapshots.ts';
import { isTokenOf } from '../../agents/mcp-access.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { badField, orNotFound, ServiceError } from '../../errors.ts';

export type MemoryFile = Pick<TextFile, 'filename' | 'size' | 'sha256'>;

const listed = ({ filename, size, sha256 }: TextFile): MemoryFile => ({ filename, size, sha256 });

/** The memory files of a Work item, with its planning files, sorted by name. */
export const listMemory = (store: Store, caseId: string): MemoryFile[] =>
  orNotFound(keptFiles(store, caseId), 'Work item', caseId).map(listed);

export const getMemory = (store: Store, caseId: string, filename: string): TextFile => {
  checkMemoryName(filename);
  checkCase(store, caseId);
  return orNotFound(readMemory(store, caseId, filename), 'memory file', filename);
};

/** Replaces a memory file. With `ifMatch`, only when the file has not changed since that ETag. */
export const putMemory = async (
  store: Store,
  caseId: string,
  file: { filename: string; content: string },
  ifMatch?: string,
): Promise<TextFile> => {
  checkMemoryName(file.filename);
  orNotFound(await writeMemory(store, caseId, file, ifMatch), 'Work item', caseId);
  return orNotFound(readMemory(store, caseId, file.filename), 'memory file', file.filename);
};

/** Throws `bad_request` for an invalid name of a memory file. */
const checkMemoryName = (filename: string): void => {
  if (isMarkdownName(filename)) return;
  throw badField(
    'path/filename',
    'must match [A-Za-z0-9][A-Za-z0-9._-]*.md',
    `${filename} is not a name for a memory file. Use one like notes.md: letters, digits, dot, dash and underscore, at most 128 characters.`,
  );
};

interface MemoryRoot {
  case_id: string;
  path: string;
  exists: boolean;
  global_path: string;
}

/** Where the memory files of a Work item are, with or without a worktree. */
export const memoryRoot = (store: Store, caseId: string): MemoryRoot => {
  const root = orNotFound(memoryRootOf(store, caseId), 'Work item', caseId);
  return { case_id: caseId, ...root, global_path: store.layout.memory };
};

const MAX_BYTES = 1_048_576;

/** The files of the global memory, sorted by name. */
export const listGlobal = (store: Store): MemoryFile[] => listGlobalMemory(store).map(listed);

export const getGlobal = (store: Store, filename: string): TextFile => {
  checkMemoryName(filename);
  return orNotFound(readGlobalMemory(store, filename), 'global memory file', filename);
};

interface GlobalWrite {
  content: string;
  mode: 'replace' | 'append';
  /** The Work item whose session lock guards the write; without it, those of all Work items. */
  case_id?: string;
  /** The token of a lock that the writer holds. */
  token?: string;
}

/**
 * Replaces or appends to memory/global.md. Throws 409 `lock_held` while another holder has the session lock; no session
 * starts between that check and the write. Text that was saved by hand meanwhile is kept.
 */
export const writeGlobal = (
  store: Store,
  { content, mode, case_id, token }: GlobalWrite,
  ifMatch?: string,
): Promise<MemoryFile> => {
  checkContent(content);
  return editGlobalMemory(
    store,
    (before) => {
      if (case_id !== undefined) checkCase(store, case_id);
      refuseHeldByOthers(listHeldLocks(store, case_id), token);
      const text = mode === 'append' ? appended(before, content) : Buffer.from(content);
      if (text.length > MAX_BYTES) throw tooLarge(text.length);
      return text;
    },
    ifMatch,
  );
};

const checkContent = (content: string): void => {
  const message = NOT_TEXT.find(([pattern]) => pattern.test(content))?.[1];
  if (message === undefined) return;
  throw badField('/content', message);
};

const NOT_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\0/, 'contains a NUL character; remove it'],
  [/\p{Cs}/u, 'contains an unpaired surrogate, which UTF-8 cannot encode; remove it'],
];

const refuseHeldByOthers = (locks: readonly HeldLock[], token: string | undefined): void => {
  const other = locks.find(
    ({ matter }) => token === undefined || !isTokenOf(matter.token_sha256, token),
  );
  if (other === undefined) return;
  const { kind, session_id, name = 'An operator' } = other.matter;
  const who = kind === 'session' ? `Session ${session_id}` : name;
  throw new ServiceError(
    'lock_held',
    `${who} holds the session lock of the Work item ${other.case_id}. Nothing was written. Wait until it is released, or send the token of the lock.`,
    { members: { case_id: other.case_id } },
  );
};

/** Appends text on a line of its own. */
const appended = (before: Buffer = Buffer.alloc(0), content: string): Buffer => {
  const isWhole = before.length === 0 || before.at(-1) === NEWLINE || content === '';
  const lineEnd = before.includes('\r\n') ? '\r\n' : '\n';
  return Buffer.concat([before, Buffer.from(isWhole ? content : lineEnd + content)]);
};

const NEWLINE = 10;

const tooLarge = (bytes: number): ServiceError =>
  new ServiceError(
    'too_large',
    `global.md would have ${bytes} bytes; the limit is ${MAX_BYTES}. Nothing was written. Remove something first.`,
    { members: { max_bytes: MAX_BYTES } },
  );

/** Saves a snapshot of the global memory. Throws `too_large` beyond 16 MiB. */
export const takeSnapshot = (store: Store): Promise<TaggedSnapshot> =>
  createSnapshot(store, newId());

/** The readable snapshots, oldest first; diagnostics report the others. */
export const listSnapshots = (store: Store): SnapshotEntry[] => keptSnapshots(store).snapshots;

/** Throws 404, and `unreadable_record` when the snapshot file was changed. */
export const getSnapshot = (store: Store, id: string): { snapshot: Snapshot; etag: string } =>
  orNotFound(readSnapshot(store, id), 'snapshot', id);
