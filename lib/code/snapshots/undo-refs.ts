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
 * Keeps what refs point to, or pointed to, under `refs/dossier/undone/<id>/`, so that git's clean-up leaves it. Answers
 * under which ref each is; what is no object, or gone already, is not among them.
 */
export const keepValues = async (
  git: GitAt,
  values: readonly RefValue[],
): Promise<Map<string, string>> => {
  const root = `refs/dossier/undone/${refOwner(git.place)}${randomUUID()}`;
  const wanted = values.filter(({ value }) => isObject(value));
  const kept = wanted.map(({ ref }) => ref.replace(/^refs/, root).replace(/@\{(\w+)\}$/, '/$1'));
  const lines = wanted.map(({ value }, at) => `create ${kept[at]} ${value}`);
  const held = await updateAll(git, lines);
  return new Map(wanted.flatMap(({ ref }, at) => (held[at] ? [[ref, kept[at] ?? '']] : [])));
};

/**
 * Puts refs back. One that is not what the change says any more, because somebody was there meanwhile, is left alone.
 * Answers the names of those that were put back.
 */
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

// All in one process; where one of them is refused git does none, and each is tried by itself.
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

// git knows stashes by their place in the list, which a new one shifts: the wrong one would come back at once. Dropped by
// its log, for what an agent has put there may be no stash.
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

/** A change that one hand made, after whatever others had done to the ref before. */
export interface OwnChange extends RefChange {
  /** What the ref was before that hand touched it; null: it was not there. */
  target: string | null;
  /** Of a branch that was renamed: what git had noted of it, which went with the name. */
  log?: readonly LogLine[];
}

/** A change that somebody else made, or nobody knows who. */
export interface OtherChange extends RefChange {
  /** Whom git noted; null where it noted nobody: of what was deleted, or where a git notes less. */
  by: string | null;
  /** git's own notes still have what it was before. */
  noted: boolean;
}

/** Who changed what, as far as git has noted it. Changes nothing, and starts no process. */
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

// All stashes have one log; each is a line of it.
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
  // Else it was written past the log, after that.
  if (!isObject(after) || log.at(-1)?.to !== after) return [];
  return log.slice(log.findLastIndex(({ by }) => !isOwn(by)) + 1);
};

// A renamed branch brings the log of another along.
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
