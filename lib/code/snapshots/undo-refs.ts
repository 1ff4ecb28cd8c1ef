import { randomUUID } from 'node:crypto';
import { isObject, type RefChange, STASH, stashOf } from '../../tools/git/read/refs.ts';
import { isRefusal } from '../../tools/git/run/error.ts';
import type { Checkout, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { type LogLine, readRefLog, writeRefLog } from '../../tools/git/write/ref-log.ts';
import { refOwner } from './kept-refs.ts';

interface RefValue {
  ref: string;
  value: string | null;
}

/**
 * Keeps (former) targets of refs under `refs/dossier/undone/<id>/`, so that `git gc` does not remove them. Returns the
 * keeping ref for each; values that are not objects, or no longer exist, are skipped.
 */
export const keepRefTargets = async (
  git: GitAt,
  values: readonly RefValue[],
): Promise<Map<string, string>> => {
  const root = newUndoneRoot(git.place);
  const wanted = values.filter(({ value }) => isObject(value));
  const kept = wanted.map(({ ref }) => ref.replace(/^refs/, root).replace(/@\{(\w+)\}$/, '/$1'));
  const lines = wanted.map(({ value }, at) => `create ${kept[at]} ${value}`);
  const held = await updateAll(git, lines);
  return new Map(wanted.flatMap(({ ref }, at) => (held[at] ? [[ref, kept[at] ?? '']] : [])));
};

/** A new prefix of refs that keep former targets. */
export const newUndoneRoot = (place: Checkout): string =>
  `refs/dossier/undone/${refOwner(place)}${randomUUID()}`;

/** Restores refs by compare-and-swap: a ref that changed again is left as it is. Returns the restored names. */
export const putRefsBack = async (
  git: GitAt<GitWorktree>,
  changes: readonly OwnChange[],
): Promise<Set<string>> => {
  const isStash = ({ ref }: OwnChange): boolean => ref.startsWith(`${STASH}@`);
  const back: string[] = [];
  for (const { ref, after } of changes.filter(isStash))
    if (await dropStash(git, after ?? '')) back.push(ref);
  const refs = changes.filter((change) => !isStash(change));
  const held = await updateAll(git, refs.map(lineFor));
  for (const [at, { ref, log }] of refs.entries())
    if (held[at] && log !== undefined) await writeRefLog(git.place, ref, log);
  return new Set([...back, ...refs.flatMap(({ ref }, at) => (held[at] ? [ref] : []))]);
};

const lineFor = ({ ref, after, target }: OwnChange): string => {
  if (target === null) return `delete ${ref} ${after}`;
  return after === null ? `create ${ref} ${target}` : `update ${ref} ${target} ${after}`;
};

// One transaction for all; if git rejects it, each ref is updated on its own.
const updateAll = async (git: GitAt, lines: readonly string[]): Promise<boolean[]> => {
  if (lines.length === 0 || (await update(git, lines))) return lines.map(() => true);
  if (lines.length === 1) return [false];
  const held: boolean[] = [];
  for (const line of lines) held.push(await update(git, [line]));
  return held;
};

const update = async ({ at, place }: GitAt, lines: readonly string[]): Promise<boolean> => {
  const { git_dir, common_dir } = place;
  const input = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');
  try {
    const args = ['update-ref', '--no-deref', '-m', 'dossier: restored', '--stdin'];
    await at({ git_dir, common_dir }).run(args, { input });
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
};

// Uses the reflog: `git stash drop` takes a position, which a concurrent stash shifts, and rejects commits that an agent
// stored there without being stashes. Entries that a concurrent change removed by mistake are added again.
const dropStash = async (git: GitAt<GitWorktree>, oid: string): Promise<boolean> => {
  const list = (await readRefLog(git.place, STASH)).toReversed();
  const at = list.findIndex(({ to }) => to === oid);
  if (at < 0) return false;
  if (list.length === 1) return update(git, [`delete ${STASH} ${oid}`]);
  const args = ['reflog', 'delete', '--updateref', '--rewrite', `${STASH}@{${at}}`];
  await git.run(args);
  const left = await readRefLog(git.place, STASH);
  const gone = list.filter(({ to }) => to !== oid && !left.some((line) => line.to === to));
  for (const { to } of gone)
    await git.run(['update-ref', '-m', 'dossier: restored', '--create-reflog', STASH, to ?? '']);
  return !left.some(({ to }) => to === oid);
};

/** A change of a ref by the run itself. */
export interface OwnChange extends RefChange {
  /** The value before the run changed it; null if the ref did not exist. */
  target: string | null;
  /** For a renamed branch, its reflog, which git moved to the new name. */
  log?: readonly LogLine[];
}

/** A change of a ref by another or an unknown author. */
export interface OtherChange extends RefChange {
  /** The author in the reflog; null without an entry, as for a deleted ref. */
  by: string | null;
  /** Whether the reflog still has the former value. */
  noted: boolean;
}

/** Divides ref changes into those of the run and others, by the reflogs. Read-only, and starts no process. */
export const sortOut = async (
  place: Checkout,
  changes: readonly RefChange[],
  isOwn: (by: string) => boolean,
): Promise<{ own: OwnChange[]; others: OtherChange[] }> => {
  const own: OwnChange[] = [];
  const others: OtherChange[] = [];
  const renamed = new Map<string, readonly LogLine[]>();
  for (const change of changes) {
    const log = await logOf(place, change);
    const lines = newestOf(log, change, isOwn);
    const target = targetOf(lines, change);
    for (const former of formerNames(lines)) renamed.set(former, log.slice(0, -lines.length));
    if (lines.length > 0 && target !== change.after) own.push({ ...change, target });
    else others.push({ ...change, ...notedIn(log, change) });
  }
  const isRenamed = ({ ref, after }: RefChange): boolean => after === null && renamed.has(ref);
  const former = others.filter(isRenamed).map(({ ref, before, after }): OwnChange => {
    const log = renamed.get(ref) ?? [];
    return { ref, before, after, target: log.at(-1)?.to ?? before, log };
  });
  return { own: [...own, ...former], others: others.filter((change) => !isRenamed(change)) };
};

const RENAMED = /^Branch: (renamed|copied) (\S+) to /;

const formerNames = (lines: readonly LogLine[]): string[] =>
  lines.flatMap(({ message }) => {
    const [, how, name = ''] = RENAMED.exec(message) ?? [];
    return how === 'renamed' ? [name] : [];
  });

// All stashes share one reflog, with one line for each.
const logOf = async (place: Checkout, { ref, after }: RefChange): Promise<LogLine[]> => {
  if (!ref.startsWith(`${STASH}@`)) return readRefLog(place, ref);
  const lines = (await readRefLog(place, STASH)).filter(({ to }) => stashOf(to) === ref);
  return after === null ? [] : lines.map((line) => ({ ...line, from: null }));
};

const newestOf = (
  log: readonly LogLine[],
  { after }: RefChange,
  isOwn: (by: string) => boolean,
): readonly LogLine[] => {
  // Otherwise the ref was changed later without a reflog entry.
  if (!isObject(after) || log.at(-1)?.to !== after) return [];
  return log.slice(log.findLastIndex(({ by }) => !isOwn(by)) + 1);
};

// The reflog of a renamed branch is that of its former name.
const targetOf = (lines: readonly LogLine[], { before }: RefChange): string | null =>
  lines.some(({ message }) => RENAMED.test(message)) ? before : (lines[0]?.from ?? before);

const notedIn = (
  log: readonly LogLine[],
  { before, after }: RefChange,
): Pick<OtherChange, 'by' | 'noted'> => {
  const newest = log.at(-1);
  return {
    by: after !== null && newest?.to === after ? newest.by : null,
    noted: log.some(({ from, to }) => from === before || to === before),
  };
};
