import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { isDiskFault, orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { readOurs, saveOurs } from '../consent/seal.ts';
import { type ReadEntry, settledSignature, signatureOf } from '../front-matter/entry.ts';
import { Problem, toProblem } from '../front-matter/problem.ts';
import { checkedBy, readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import { type Layout, patchesFile } from '../layout.ts';
import { Patches } from '../records/patches.ts';
import { readyToWrite, type Store } from '../store.ts';
import { replaceSessionFile } from './session-texts.ts';

/** The patches of a session. */
export const PATCHES = ['diff.patch', 'since-approval.patch'] as const;
type PatchName = (typeof PATCHES)[number];

interface OfSession {
  /** The directory of the session. */
  dir: string;
  id: string;
}

/** Writes a patch of a session, and notes its hash on this machine. */
export const replacePatch = async (
  store: Store,
  { dir, id }: OfSession,
  name: PatchName,
  bytes: Buffer,
): Promise<void> => {
  const { layout } = store;
  await readyToWrite(store);
  const note = (patches: Patches) =>
    saveOurs(layout, patchesFile(layout, id), patches).catch((error: unknown) => {
      if (isDiskFault(error)) throw error;
      store.report(error, 'noting the hash of a patch');
    });
  const known = findPatches(layout, id);
  if (known !== undefined) await note({ ...known, [name]: null });
  await replaceSessionFile(store, dir, name, bytes);
  await note({ ...known, [name]: sha256(bytes) });
};

/**
 * The patches of which this machine knows the hash, by name: with a problem where the file is another. `before` are those of
 * the last reading: a file that has not changed since is not read again.
 */
export const readPatches = (
  layout: Layout,
  { dir, id }: OfSession,
  before: (name: string) => ReadEntry<unknown> | undefined = () => undefined,
): [name: string, ReadEntry<unknown>][] => {
  const record = orElse(() => statsAt(patchesFile(layout, id)), undefined);
  if (record === undefined) return [];
  let hashes: Patches | undefined;
  return PATCHES.map((name) => {
    const path = join(dir, name);
    const signature = signatureOfBoth(record, path);
    const known = before(name);
    if (known?.signature === signature && signature !== '') return [name, known];
    hashes ??= findPatches(layout, id) ?? {};
    const problem = patchProblem(layout, path, hashOf(hashes, name));
    return [name, { signature, sha: '', written_at: 0, value: undefined, problem }];
  });
};

/** Whether a patch of the session is known to be another than this machine wrote. */
export const hasChangedPatch = (layout: Layout, session: OfSession): boolean =>
  readPatches(layout, session).some(([, { problem }]) => problem !== undefined);

// One that git, a copy or another program wrote says nothing.
const findPatches = (layout: Layout, id: string): Patches | undefined => {
  const read = () =>
    readOurs(layout, patchesFile(layout, id), (value) => checkedBy(Patches, value));
  return orElse(read, undefined);
};

/** The hash of a patch that the session never wrote. */
const NONE = 'none';

// Undefined if nothing is known of the patch. since-approval.patch is noted before diff.patch, if it is written at all.
const hashOf = (known: Patches, name: PatchName): string | undefined => {
  const hash = known[name];
  if (hash === undefined && name !== 'diff.patch' && known['diff.patch'] != null) return NONE;
  return hash ?? undefined;
};

// Empty: read the file again.
const signatureOfBoth = (record: Stats, path: string): string =>
  orElse(() => {
    const stats = statsAt(path);
    const signature = stats === undefined ? 'none' : settledSignature(stats);
    return signature === '' ? '' : `${signatureOf(record)} ${signature}`;
  }, '');

const patchProblem = (
  { root }: Layout,
  path: string,
  hash: string | undefined,
): Problem | undefined => {
  if (hash === undefined) return undefined;
  try {
    const bytes = readRegularFile(root, path);
    if (bytes === undefined) return hash === NONE ? undefined : MISSING;
    return sha256(bytes) === hash ? undefined : CHANGED;
  } catch (error) {
    return toProblem(error);
  }
};

const CHANGED = new Problem(
  'patch_changed',
  'This patch is not the one that this machine wrote: it was edited, or replaced by git. Read the changes in the worktree or on its branch, or restore the file. If the change is yours, remove the record of the session in .dossier/patches',
);

/** Problem code of a patch that was deleted: it says nothing that is untrue. */
export const PATCH_MISSING = 'patch_missing';

const MISSING = new Problem(
  PATCH_MISSING,
  'This machine wrote this patch, and it was deleted. Restore it, or read the changes on the branch',
);
