import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, orElse, orElseUnlessDiskFault } from '../base/attempt.ts';
import { isUuid } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { writePrivate } from './state-dir.ts';

/** The record of a workspace in the state directory. */
interface Noted {
  path: string;
  /** The inode of the id file, which differs in a copy, a restored backup and a git checkout. */
  inode: string;
  /**
   * When that inode was created, because file systems use the number of a removed file again. Not in older records, nor where
   * the system does not tell: Node returns the time of the last change then.
   */
  born?: string;
  /** The id of the machine, if it has one: machines may share a home directory. */
  machine: string;
}

/** The directory of a workspace below the state directory. */
export const stateOfWorkspace = (state: string, id: string): string =>
  join(state, 'workspaces', id);

/**
 * The id of a workspace that the state directory knows, at the same path or renamed. Undefined for a copy or an unknown
 * workspace. Writes nothing.
 */
export const knownWorkspaceId = (layout: Layout, state: string): string | undefined => {
  const found = idIn(layout);
  const noted = found && notedOf(state, found.id);
  if (noted === undefined || found === undefined || !isSame(noted, found)) return undefined;
  return isLinkedTo(layout, found, noted.path) ? undefined : found.id;
};

// A copy of hard links (`cp -al`, `rsync --link-dest`) has the same inode, beside the original. Another mount of the original
// has the same directory, too.
const isLinkedTo = (layout: Layout, { inode }: IdFile, path: string): boolean => {
  if (path === layout.root) return false;
  const original = layoutOf(path);
  // A former place that cannot be read is none beside this one.
  return orElse(
    () =>
      idIn(original)?.inode === inode &&
      statsAt(original.dossier)?.ino !== statsAt(layout.dossier)?.ino,
    false,
  );
};

/**
 * Like `knownWorkspaceId`, but creates an id for an unknown workspace; on disk when it returns. `begin` is called before the
 * new id takes effect, with that id and the id of the previous workspace at this path, if that is at no other path now.
 * Throws errors of the disk.
 */
export const needWorkspaceId = (
  layout: Layout,
  state: string,
  begin: (id: string, former: string | undefined) => void,
): string => {
  const known = knownWorkspaceId(layout, state);
  const id = known ?? randomUUID();
  if (known === undefined) {
    begin(id, formerAt(state, layout.root));
    carryMark(layout, state, id);
    writePrivate(idFile(layout), `${id}\n`);
  }
  const { inode = '', born = '', isBirthKnown } = idIn(layout) ?? {};
  const noted: Noted = {
    ...{ path: layout.root, inode, machine: machineId() },
    ...(isBirthKnown === true && { born }),
  };
  if (JSON.stringify(notedOf(state, id)) === JSON.stringify(noted)) return id;
  writePrivate(join(stateOfWorkspace(state, id), NOTE), `${JSON.stringify(noted)}\n`);
  writePrivate(lastAt(state, layout.root), `${id}\n`);
  return id;
};

/** Whether the last workspace at this path, if any, is at no other path now. Throws errors of the disk. */
export const wasWorkspace = ({ root, state }: Layout): boolean =>
  state !== undefined && formerAt(state, root) !== undefined;

// Deleting or replacing `.dossier/workspace` must drop trusted values, but not restrictions.
const formerAt = (state: string, path: string): string | undefined => {
  const id = unlessUnread(() => readFileSync(lastAt(state, path), 'utf8').trim());
  const noted = id === undefined ? undefined : notedOf(state, id);
  return noted?.path === path && noted.machine === machineId() ? id : undefined;
};

/** The file that names the last workspace at a path. */
const lastAt = (state: string, path: string): string => join(state, 'paths', sha256(path));

const NOTE = 'workspace.json';
const MARK = 'journal';

/** The file of the journal mark of this workspace; undefined while the state directory does not know the workspace. */
export const journalMarkFile = (layout: Layout): string | undefined => {
  const { state } = layout;
  const id = state && knownWorkspaceId(layout, state);
  return state && id && join(stateOfWorkspace(state, id), MARK);
};

// A restored backup keeps no decisions, but its mark, because its journal may be older than the events sent. A copy starts
// without a mark.
const carryMark = (layout: Layout, state: string, id: string): void => {
  const former = idIn(layout)?.id;
  const noted = former && notedOf(state, former);
  if (!former || !noted || noted.machine !== machineId()) return;
  const isCopy = noted.path !== layout.root && idIn(layoutOf(noted.path))?.id === former;
  const mark = join(stateOfWorkspace(state, former), MARK);
  if (!isCopy && statsAt(mark) !== undefined)
    writePrivate(join(stateOfWorkspace(state, id), MARK), readFileSync(mark));
};

const isSame = ({ inode, born, machine }: Noted, found: IdFile): boolean =>
  inode === found.inode && (born ?? found.born) === found.born && machine === machineId();

const notedOf = (state: string, id: string): Noted | undefined =>
  unlessUnread(() => {
    const text = readFileSync(join(stateOfWorkspace(state, id), NOTE), 'utf8');
    const { path, inode, born, machine } = JSON.parse(text) as Partial<Noted>;
    return {
      ...{ path: `${path}`, inode: `${inode}`, machine: `${machine}` },
      ...(born !== undefined && { born }),
    };
  });

const NO_FILE = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'];

// An error of the system must not make the workspace look unknown: the new id would be permanent.
const unlessUnread = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined && !hasCode(error, ...NO_FILE))
      throw error;
    return undefined;
  }
};

const idFile = ({ dossier }: Layout): string => join(dossier, 'workspace');

interface IdFile {
  id: string;
  inode: string;
  born: string;
  isBirthKnown: boolean;
}

const idIn = (layout: Layout): IdFile | undefined => {
  const path = idFile(layout);
  const text = unlessUnread(() => readRegularFile(layout.root, path))
    ?.toString('utf8')
    .trim();
  const stats = statsAt(path);
  if (stats === undefined || !isUuid(text ?? '')) return undefined;
  const { ino, birthtimeMs, ctimeMs } = stats;
  const isBirthKnown = birthtimeMs > 0 && birthtimeMs !== ctimeMs;
  return { id: text ?? '', inode: `${ino}`, born: `${birthtimeMs}`, isBirthKnown };
};

// Empty if the system has none, as in many containers; then only the inode and its creation are compared.
const machineId = (): string =>
  orElseUnlessDiskFault(() => readFileSync('/etc/machine-id', 'utf8').trim(), '');
