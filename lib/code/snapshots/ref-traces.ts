import { isObject, type RefChange, STASH, stashOf } from '../../tools/git/read/refs.ts';
import type { Checkout } from '../../tools/git/run/git.ts';
import { type LogLine, readRefLog } from '../../tools/git/write/ref-log.ts';

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
