import { join } from 'node:path';
import { isDone, orElse } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { readLinesFrom } from '../fs/lines.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { compactLog, finishCompaction } from './compact.ts';
import { appendDecisions, type Consent, type Place, parseDecision } from './decisions.ts';
import { canonical, readPlace, trustHash } from './seal.ts';
import { lostState, needStateDir, needStateKey, StateDirError } from './state-dir.ts';
import { needWorkspaceId, stateOfWorkspace } from './workspace-id.ts';

/**
 * The operator's decisions on this machine about one workspace, by key and value: trusted settings, started sessions and
 * approved plans. Kept in the user's state directory, never in the workspace, with a MAC for each line.
 */
export interface ConsentLog {
  /**
   * `version` changes with every change. `damage` is a sentence that says why earlier decisions no longer count; usually
   * undefined.
   */
  current(): { version: number; damage: string | undefined };
  /** Why no decision can be stored: the state directory was removed or replaced since. */
  lost(): string | undefined;
  /** Stores decisions; on disk when it returns. If it throws an error of the disk, those in the file count. */
  grant(consents: readonly Omit<Consent, 'by'>[], by?: Consent['by']): void;
  /** Revokes all values of a key. `kept` is a value that still applies because it is stricter. */
  revoke(key: string, kept?: unknown): void;
  /** Whether the last decision about this key was for this value. */
  isGranted(key: string, value: unknown): boolean;
  /** Whether the operator ever granted a value with this hash for the key. */
  wasGranted(key: string, hash: string): boolean;
  /** The last decision about each key. */
  list(): ReadonlyMap<string, Consent>;
  /** Applies decisions in memory only, while the disk cannot be written. */
  assume(consents: readonly Consent[]): void;
  /** Reads decisions that another process added. */
  refresh(): void;
  /** While true, only decisions stricter than the defaults count. */
  withhold(isWithheld: boolean): void;
}

interface OpenAs {
  /** Selects the decisions to take over from the previous workspace at the same path. */
  stricter?: Stricter;
  /** This process holds the workspace lock and has checked the state directory, so it may compact the log. */
  holds?: boolean;
}

/**
 * Opens the consent log of a workspace for writing. Throws a StateDirError if decisions cannot be stored, before anything
 * else is read.
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

/** Selects the stricter decisions of the previous workspace at a path, which apply to the new one too. */
type Stricter = (decisions: ReadonlyMap<string, Consent>) => Consent[];

/** The key that names the previous workspace of such decisions. */
export const FORMER = 'workspace/former';

const NO_STATE_DIR =
  'HOME is not set, so there is no directory for what you trust and approve. Name one with --state-dir';

/** Reads the consent log of a workspace that another process may hold. Writes nothing. */
export const readConsentLog = (layout: Layout): ConsentLog => {
  const { state } = layout;
  // Without permission to read, nothing is granted.
  const place = readPlace(layout);
  return logOf(place && state ? placeOf(state, place.id, place.key) : undefined);
};

const placeOf = (state: string, id: string, key: Buffer): Place => ({
  state,
  file: join(stateOfWorkspace(state, id), 'consent.log'),
  id,
  key,
});

interface Kept {
  granted: Map<string, Consent>;
  /** `key hash` of each value that the operator ever granted. */
  hashes: Set<string>;
  version: number;
  damage: string | undefined;
  isWithheld: boolean;
  /** The offset up to which the file was read, and the signature of that file. */
  offset: number;
  mark: string;
  /** The length after the last compaction. */
  short: number;
}

const logOf = (
  place: Place | undefined,
  { stricter = () => [], holds = false }: OpenAs = {},
): ConsentLog => {
  const kept = emptyLog();
  if (place !== undefined) refresh(place, kept);
  if (place !== undefined && holds) keepShort(place, kept);
  return { ...reading(kept, stricter), ...writing(place, kept, holds) };
};

const emptyLog = (): Kept => ({
  granted: new Map(),
  hashes: new Set(),
  version: 0,
  damage: undefined,
  isWithheld: false,
  offset: 0,
  mark: '',
  short: 0,
});

const LONG = 262_144;

// A damaged log is not compacted, so that the operator can inspect it.
const keepShort = (place: Place, kept: Kept): void => {
  if (kept.damage !== undefined || kept.offset < LONG + 2 * kept.short) return;
  // Read again, without the decisions that exist in memory only.
  const folded = emptyLog();
  refresh(place, folded);
  // On a full disk or without hard links, the longer file stays.
  orElse(() => compactLog(place, folded), undefined);
  refresh(place, kept);
  kept.short = kept.offset;
};

type Reading = Pick<ConsentLog, 'current' | 'isGranted' | 'wasGranted' | 'list'>;

const reading = (kept: Kept, stricter: Stricter): Reading => {
  const counts = (): boolean => !kept.isWithheld;
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
  const lost = () => place && lostState(place.state, place.key);
  const grant: ConsentLog['grant'] = (consents, by = 'operator') => {
    if (place === undefined || consents.length === 0) return;
    append(
      place,
      kept,
      consents.map((consent) => ({ ...consent, by })),
    );
    if (holds) keepShort(place, kept);
  };
  return {
    lost,
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
      if (kept.isWithheld === isWithheld) return;
      kept.isWithheld = isWithheld;
      kept.version += 1;
    },
  };
};

const append = (place: Place, kept: Kept, decisions: readonly Consent[]): void => {
  // Without its key no later start can read them.
  const lost = lostState(place.state, place.key);
  if (lost !== undefined) throw new StoreError('read_only', lost);
  try {
    appendDecisions(place, decisions);
  } catch (error) {
    // They may be in the file, and count as they will after a restart.
    orElse(() => refresh(place, kept), undefined);
    throw error;
  }
  if (isDone(() => refresh(place, kept))) return;
  // They are in the file, which is read again at the next look.
  for (const one of decisions) fold(kept, one);
  kept.version += 1;
};

// If the file was removed or replaced, nothing is granted any more.
const refresh = (place: Place, kept: Kept): void => {
  const stats = statsAt(place.file);
  const mark = stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  if (mark === kept.mark) return;
  const isLonger = stats !== undefined && stats.size > kept.offset && isSameFile(mark, kept.mark);
  if (!isLonger) forget(kept);
  for (let read = true; read && stats !== undefined; ) {
    const { values, next } = readLinesFrom(place.file, kept.offset, (line) =>
      line === '' ? undefined : (parseDecision(place, line) ?? DAMAGED),
    );
    for (const line of values) foldLine(place, kept, line);
    read = next > kept.offset;
    kept.offset = next;
  }
  // After the last line was read: a read that failed is repeated.
  kept.mark = mark;
  kept.version += 1;
};

const DAMAGED = 'damaged';

// A changed line may have been a revocation, so the decisions before it no longer count.
const foldLine = ({ file }: Place, kept: Kept, line: Consent | typeof DAMAGED): void => {
  if (line !== DAMAGED) {
    fold(kept, line);
    return;
  }
  kept.granted.clear();
  kept.hashes.clear();
  kept.damage = `${file} was changed by another program, or is damaged. Decisions before that line no longer count: trust and approve again`;
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
