import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFault, orElseUnlessFault } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { hasCode } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { writePrivate } from './state-dir.ts';

/** What the state directory notes of a workspace. */
interface Noted {
  path: string;
  /** Of the file that holds the id: a copy, a restored backup and what git wrote have another. */
  inode: string;
  /** Of the machine, where the system has a name for it: a home directory may be shared by several. */
  machine: string;
}

/** Where what is kept of a workspace is, below the state directory. */
export const stateOfWorkspace = (state: string, id: string): string =>
  join(state, 'workspaces', id);

/**
 * The id by which the state directory knows this workspace, if it is the one that it noted: at the same path or moved by a
 * rename, and no copy. Undefined otherwise. Writes nothing.
 */
export const knownWorkspaceId = (layout: Layout, state: string): string | undefined => {
  const found = idIn(layout);
  const noted = found && notedOf(state, found.id);
  return noted !== undefined && found !== undefined && isSame(noted, found.inode)
    ? found.id
    : undefined;
};

/**
 * The same, with a new id for a workspace that the state directory does not know, on disk when this returns. `begin` is
 * given the new id before it counts, with the id of the workspace that was at this path last and is known at no other.
 * Throws what the disk says.
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
  const inode = idIn(layout)?.inode ?? '';
  const noted: Noted = { path: layout.root, inode, machine: machineId() };
  if (JSON.stringify(notedOf(state, id)) === JSON.stringify(noted)) return id;
  writePrivate(join(stateOfWorkspace(state, id), NOTE), `${JSON.stringify(noted)}\n`);
  writePrivate(lastAt(state, layout.root), `${id}\n`);
  return id;
};

// Who deletes or replaces `.dossier/workspace` has this machine forget what it trusts there, and not what it forbids.
const formerAt = (state: string, path: string): string | undefined => {
  const id = unlessUnread(() => readFileSync(lastAt(state, path), 'utf8').trim());
  const noted = id === undefined ? undefined : notedOf(state, id);
  return noted?.path === path && noted.machine === machineId() ? id : undefined;
};

/** Names the workspace that was at a path last. */
const lastAt = (state: string, path: string): string => join(state, 'paths', sha256(path));

const NOTE = 'workspace.json';
const MARK = 'journal';

/** Where it is noted how far the journal of this workspace was told; undefined while the state directory does not know it. */
export const journalMarkFile = (layout: Layout): string | undefined => {
  const { state } = layout;
  const id = state && knownWorkspaceId(layout, state);
  return state && id && join(stateOfWorkspace(state, id), MARK);
};

// A backup that was put back has no decisions, but its journal may be older than what was told. A copy has its own.
const carryMark = (layout: Layout, state: string, id: string): void => {
  const former = idIn(layout)?.id;
  const noted = former && notedOf(state, former);
  if (!former || !noted || noted.machine !== machineId()) return;
  const isCopy = noted.path !== layout.root && idIn(layoutOf(noted.path))?.id === former;
  const mark = join(stateOfWorkspace(state, former), MARK);
  if (!isCopy && statsAt(mark) !== undefined)
    writePrivate(join(stateOfWorkspace(state, id), MARK), readFileSync(mark));
};

const isSame = ({ inode, machine }: Noted, found: string): boolean =>
  inode === found && machine === machineId();

const notedOf = (state: string, id: string): Noted | undefined =>
  unlessUnread(() => {
    const text = readFileSync(join(stateOfWorkspace(state, id), NOTE), 'utf8');
    const { path, inode, machine } = JSON.parse(text) as Partial<Noted>;
    return { path: `${path}`, inode: `${inode}`, machine: `${machine}` };
  });

// A file that is there and that the system does not read for this once is no other workspace: a new id would be one for good.
const unlessUnread = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (isDiskFault(error) || hasCode(error, 'EACCES', 'EPERM')) throw error;
    return undefined;
  }
};

const idFile = ({ dossier }: Layout): string => join(dossier, 'workspace');

const idIn = (layout: Layout): { id: string; inode: string } | undefined => {
  const path = idFile(layout);
  const text = unlessUnread(() => readRegularFile(layout.root, path))
    ?.toString('utf8')
    .trim();
  const stats = statsAt(path);
  if (stats === undefined || !UUID.test(text ?? '')) return undefined;
  return { id: text ?? '', inode: `${stats.ino}` };
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Empty where the system has none, as in many containers: then the inode alone tells.
const machineId = (): string =>
  orElseUnlessFault(() => readFileSync('/etc/machine-id', 'utf8').trim(), '');
