import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orElse } from '../../base/or-else.ts';
import { addLines, openLines, readLinesFrom } from '../disk/lines.ts';
import { makeSyncedDirectory, syncDirectoryNow } from '../disk/make-directory.ts';
import { statsAt } from '../disk/plain-path.ts';
import type { Layout } from '../layout.ts';
import { canonical, trustHash } from './canonical.ts';
import { needStateDir, needStateKey, readStateKey, StateDirError } from './state-dir.ts';
import { knownWorkspaceId, needWorkspaceId, stateOfWorkspace } from './workspace-id.ts';

/** One decision of the operator's. Without a value: what the key names was taken away, or is revoked. */
export interface Consent {
  key: string;
  value?: unknown;
  /** A setting that applies because it is stricter is no decision of the operator's, and is not trusted for ever. */
  by: 'operator' | 'tightening';
  /** No value of before counts again when it comes back. */
  revoked?: true;
  at?: string;
}

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

/** Where decisions are kept, and what authenticates them. */
interface Place {
  file: string;
  id: string;
  key: Buffer;
}

/**
 * The consent log of a workspace that this process holds. Throws a StateDirError where decisions could not be kept, before
 * anything else is read. `stricter` is asked about a workspace that takes the place of another one.
 */
export const openConsentLog = (layout: Layout, stricter: Stricter = () => []): ConsentLog => {
  const { state } = layout;
  if (state === undefined) throw new StateDirError(NO_STATE_DIR);
  needStateDir(state, layout.root);
  const key = needStateKey(state);
  const begin = (id: string, former: string | undefined): void => {
    const kept = former === undefined ? [] : stricter(logOf(placeOf(state, former, key)).list());
    if (kept.length === 0) return;
    const place = placeOf(state, id, key);
    append(place, [{ key: FORMER, value: former, by: 'tightening' }, ...kept]);
  };
  return logOf(placeOf(state, needWorkspaceId(layout, state, begin), key), stricter);
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
}

const logOf = (place: Place | undefined, stricter: Stricter = () => []): ConsentLog => {
  const kept: Kept = {
    ...{ granted: new Map(), hashes: new Set(), version: 0, offset: 0, mark: '' },
    ...{ damage: undefined, withheld: false },
  };
  if (place !== undefined) refresh(place, kept);
  return { ...reading(kept, stricter), ...writing(place, kept) };
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

const writing = (place: Place | undefined, kept: Kept): Omit<ConsentLog, keyof Reading> => {
  const grant: ConsentLog['grant'] = (consents, by = 'operator') => {
    if (place === undefined || consents.length === 0) return;
    append(
      place,
      consents.map((consent) => ({ ...consent, by })),
    );
    refresh(place, kept);
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

// Who adds takes no lock: lines of two processes stand one after the other.
const append = (place: Place, consents: readonly Consent[]): void => {
  makeSyncedDirectory(dirname(place.file), 0o700);
  const at = new Date().toISOString();
  const text = consents.map((consent) => lineOf(place, { at, ...consent })).join('');
  const isNew = statsAt(place.file) === undefined;
  if (isNew) closeSync(openSync(place.file, 'a', 0o600));
  const descriptor = openLines(place.file, (line) => parse(place, line));
  try {
    addLines(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (isNew) syncDirectoryNow(dirname(place.file));
};

const lineOf = (place: Place, consent: Consent): string => {
  const json = JSON.stringify(consent);
  return `${macOf(place, json)} ${json}\n`;
};

const macOf = ({ id, key }: Place, json: string): string =>
  createHmac('sha256', key).update(`${id}\n${json}`).digest('hex');

const MAC_LENGTH = 64;

const parse = (place: Place, line: string): Consent | undefined => {
  const json = line.slice(MAC_LENGTH + 1).trimEnd();
  const [found, right] = [line.slice(0, MAC_LENGTH), macOf(place, json)].map((mac) =>
    Buffer.from(mac),
  );
  if (found === undefined || right === undefined || found.length !== right.length) return undefined;
  return timingSafeEqual(found, right) ? (JSON.parse(json) as Consent) : undefined;
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
      line === '' ? undefined : (parse(place, line) ?? DAMAGED),
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
  const { key, value, by, revoked = false } = consent;
  if (value === undefined) granted.delete(key);
  else granted.set(key, consent);
  if (revoked) for (const one of hashes) if (one.startsWith(`${key} `)) hashes.delete(one);
  if (by === 'operator' && !revoked) hashes.add(`${key} ${trustHash(value)}`);
};
