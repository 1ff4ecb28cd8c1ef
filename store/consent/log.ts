import { join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { readLinesFrom } from '../fs/lines.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { compactLog, finishCompaction } from './compact.ts';
import { appendDecisions, type Consent, type Place, parseDecision } from './decisions.ts';
import { canonical, trustHash } from './seal.ts';
import { needStateDir, needStateKey, readStateKey, StateDirError } from './state-dir.ts';
import { knownWorkspaceId, needWorkspaceId, stateOfWorkspace } from './workspace-id.ts';

/**
 * What the operator decided on this machine about one workspace: which settings are trusted, which sessions were started and
 * which plans approved, by key and value. It is kept in the user's state directory, never in the workspace, and each line is
 * authenticated with a key of that directory.
 */
export interface ConsentLog {
  /**
   * `version` changes with each change of what is granted; `damage` says in a sentence why decisions of before do not count
   * any more, and is undefined in the usual case.
   */
  current(): { version: number; damage: string | undefined };
  /** Keeps decisions: on disk when this returns. Throws what the disk says, and then none of them counts. */
  grant(consents: readonly Omit<Consent, 'by'>[], by?: Consent['by']): void;
  /** Takes all back that was granted for a key. `kept` is what goes on to apply because it is stricter. */
  revoke(key: string, kept?: unknown): void;
  /** Whether the last decision about this key was for this value. */
  isGranted(key: string, value: unknown): boolean;
  /** Whether a value with this hash was ever granted for this key by the operator. */
  wasGranted(key: string, hash: string): boolean;
  /** The last decision about each key. */
  list(): ReadonlyMap<string, Consent>;
  /** Counts decisions in memory alone, where the disk takes nothing now. */
  assume(consents: readonly Consent[]): void;
  /** Reads what another process added. */
  refresh(): void;
  /** Lets nothing count while it is true, but what is stricter than the defaults. */
  withhold(isWithheld: boolean): void;
}

interface OpenAs {
  /** Is asked about a workspace that takes the place of another one. */
  stricter?: Stricter;
  /** This process alone holds the workspace, and has tried the state directory out: it keeps the log short. */
  holds?: boolean;
}

/**
 * The consent log of a workspace, to add to. Throws a StateDirError where decisions could not be kept, before anything else
 * is read.
 */
export const openConsentLog = (
  layout: Layout,
  { stricter = () => [], holds = false }: OpenAs = {},
): ConsentLog => {
  const { state } = layout;
  if (state === undefined) throw new StateDirError(NO_STATE_DIR);
  if (!holds) needStateDir(state, layout.root);
  const key = needStateKey(state);
  const begin = (id: string, former: string | undefined): void => {
    const kept = former === undefined ? [] : stricter(logOf(placeOf(state, former, key)).list());
    if (kept.length === 0) return;
    const place = placeOf(state, id, key);
    appendDecisions(place, [{ key: FORMER, value: former, by: 'tightening' }, ...kept]);
  };
  const place = placeOf(state, needWorkspaceId(layout, state, begin), key);
  if (holds) finishCompaction(place);
  return logOf(place, { stricter, holds });
};

/** What goes on to apply of decisions about the workspace that was at a path before this one: no more than is stricter. */
export type Stricter = (decisions: ReadonlyMap<string, Consent>) => Consent[];

/** Names the workspace that such decisions are of. */
export const FORMER = 'workspace/former';

const NO_STATE_DIR =
  'There is no HOME, and so no place for what you trust and approve: name a directory with --state-dir';

/** The same of a workspace that another process may hold. Grants nothing and writes nothing. */
export const readConsentLog = (layout: Layout): ConsentLog => {
  const { state } = layout;
  // Who may not look knows of nothing that is granted.
  const place = orElse(() => {
    const id = state && knownWorkspaceId(layout, state);
    const key = state && readStateKey(state);
    return id && key && state ? placeOf(state, id, key) : undefined;
  }, undefined);
  return logOf(place);
};

const placeOf = (state: string, id: string, key: Buffer): Place => ({
  file: join(stateOfWorkspace(state, id), 'consent.log'),
  id,
  key,
});

interface Kept {
  granted: Map<string, Consent>;
  /** Key and hash of all values that the operator ever granted. */
  hashes: Set<string>;
  version: number;
  damage: string | undefined;
  withheld: boolean;
  /** How far the file was read, and which file that was. */
  offset: number;
  mark: string;
  /** How long it was when it was shortened last. */
  short: number;
}

const logOf = (
  place: Place | undefined,
  { stricter = () => [], holds = false }: OpenAs = {},
): ConsentLog => {
  const kept = nothingYet();
  if (place !== undefined) refresh(place, kept);
  if (place !== undefined && holds) keepShort(place, kept);
  return { ...reading(kept, stricter), ...writing(place, kept, holds) };
};

const nothingYet = (): Kept => ({
  ...{ granted: new Map(), hashes: new Set(), version: 0, offset: 0, mark: '' },
  ...{ damage: undefined, withheld: false, short: 0 },
});

const LONG = 262_144;

// No line of a damaged log is left out: the operator looks at it.
const keepShort = (place: Place, kept: Kept): void => {
  if (kept.damage !== undefined || kept.offset < LONG + 2 * kept.short) return;
  // As it is on disk, without what counts in memory alone.
  const folded = nothingYet();
  refresh(place, folded);
  // A full disk, or a file system without hard links, has the longer one.
  orElse(() => compactLog(place, folded), undefined);
  refresh(place, kept);
  kept.short = kept.offset;
};

type Reading = Pick<ConsentLog, 'current' | 'isGranted' | 'wasGranted' | 'list'>;

const reading = (kept: Kept, stricter: Stricter): Reading => {
  const counts = (): boolean => !kept.withheld;
  return {
    current: () => ({ version: kept.version, damage: kept.damage }),
    isGranted: (key, value) =>
      counts() &&
      value !== undefined &&
      canonical(kept.granted.get(key)?.value) === canonical(value),
    wasGranted: (key, hash) => counts() && kept.hashes.has(`${key} ${hash}`),
    list: () =>
      counts() ? kept.granted : new Map(stricter(kept.granted).map((one) => [one.key, one])),
  };
};

const writing = (
  place: Place | undefined,
  kept: Kept,
  holds: boolean,
): Omit<ConsentLog, keyof Reading> => {
  const grant: ConsentLog['grant'] = (consents, by = 'operator') => {
    if (place === undefined || consents.length === 0) return;
    appendDecisions(
      place,
      consents.map((consent) => ({ ...consent, by })),
    );
    refresh(place, kept);
    if (holds) keepShort(place, kept);
  };
  return {
    grant,
    revoke: (key, kept) =>
      grant(
        [{ key, revoked: true, ...(kept !== undefined && { value: kept }) }],
        kept === undefined ? 'operator' : 'tightening',
      ),
    assume: (consents) => {
      for (const consent of consents) fold(kept, consent);
    },
    refresh: () => {
      if (place !== undefined) refresh(place, kept);
    },
    withhold: (isWithheld) => {
      if (kept.withheld === isWithheld) return;
      kept.withheld = isWithheld;
      kept.version += 1;
    },
  };
};

// Where the file was taken away, or is another, nothing is granted any more.
const refresh = (place: Place, kept: Kept): void => {
  const stats = statsAt(place.file);
  const mark = stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  if (mark === kept.mark) return;
  const isLonger = stats !== undefined && stats.size > kept.offset && isSameFile(mark, kept.mark);
  if (!isLonger) forget(kept);
  kept.mark = mark;
  for (let read = true; read && stats !== undefined; ) {
    const { values, next } = readLinesFrom(place.file, kept.offset, (line) =>
      line === '' ? undefined : (parseDecision(place, line) ?? DAMAGED),
    );
    for (const line of values) foldLine(place, kept, line);
    read = next > kept.offset;
    kept.offset = next;
  }
  kept.version += 1;
};

const DAMAGED = 'damaged';

// A line that was changed may have revoked something: what stands before it counts no more.
const foldLine = ({ file }: Place, kept: Kept, line: Consent | typeof DAMAGED): void => {
  if (line !== DAMAGED) {
    fold(kept, line);
    return;
  }
  kept.granted.clear();
  kept.hashes.clear();
  kept.damage = `${file} was changed by another program, or is damaged: what was trusted and approved before that line is asked again`;
};

const isSameFile = (a: string, b: string): boolean => a.split(' ')[0] === b.split(' ')[0];

const forget = (kept: Kept): void => {
  kept.granted.clear();
  kept.hashes.clear();
  kept.damage = undefined;
  kept.offset = 0;
};

const fold = ({ granted, hashes }: Kept, consent: Consent): void => {
  const { key, value, revoked = false } = consent;
  if (value === undefined) granted.delete(key);
  else granted.set(key, consent);
  if (revoked) for (const one of hashes) if (one.startsWith(`${key} `)) hashes.delete(one);
  for (const hash of hashesIn(consent)) hashes.add(`${key} ${hash}`);
};

const hashesIn = ({ value, by, revoked, before = [] }: Consent): string[] => [
  ...before,
  ...(by === 'operator' && revoked !== true ? [trustHash(value)] : []),
];
