import { join } from 'node:path';
import { messageOf } from '../../../store/base/attempt.ts';
import { whyNotGrown, whyOtherProject } from './conversation-owner.ts';
import {
  bytesOf,
  CHANGED,
  createAt,
  entriesOf,
  isThere,
  LARGEST_BYTES,
  replaceAt,
  stampAt,
} from './files.ts';
import {
  type Claims,
  conversationAt,
  hasSessionId,
  isOwnConversation,
  matchesPattern,
  mayHold,
  type RunScope,
  type StateRules,
} from './rules.ts';

/** A file that was not returned. */
export interface Left {
  path: string;
  why: string;
}

interface Open {
  /** The agent's real path, and its copy. */
  root: string;
  copy: string;
  rules: StateRules;
  scope: RunScope;
}

/** Stamps of the real files that the run was shown, by path. */
export type Shown = ReadonlyMap<string, string>;

// Limits of one return.
const MOST_FILES = 200;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_LOOKED_AT = 20_000;

/** The real files that the run is shown and that may return. */
export const shownIn = async (open: Open): Promise<Shown> => {
  const { root, copy, rules, scope } = open;
  const shown = new Map<string, string>();
  for (const path of (await candidatesIn(open)).paths) {
    const stamp = await stampAt(join(root, path));
    if (stamp === undefined) continue;
    // In a copy from an earlier turn, a file was shown only if it is still equal.
    const was = isWhole(path, open)
      ? await isEqual(join(root, path), join(copy, path))
      : isOwnConversation(path, rules, scope);
    if (was) shown.set(path, stamp);
  }
  return shown;
};

/** The paths of a run's own conversation in the copy of its agent's state. */
export const conversationIn = async (open: Open): Promise<string[]> =>
  (await candidatesIn(open)).paths
    .filter((path) => conversationAt(path, open.rules, open.scope) !== undefined)
    .filter((path) => hasSessionId(path, open.rules, open.scope))
    .map((path) => join(open.copy, path));

const isWhole = (path: string, { rules, scope }: Open): boolean =>
  matchesPattern(path, rules.returns, scope);

const isEqual = async (one: string, other: string): Promise<boolean> => {
  const [here, there] = await Promise.all(
    [one, other].map((path) => bytesOf(path, LARGEST_BYTES).catch(() => undefined)),
  );
  return here !== undefined && there !== undefined && here.equals(there);
};

interface Candidates {
  paths: string[];
  left: Left[];
}

/** The files of a copy that may return. Follows no links. */
const candidatesIn = async (open: Open): Promise<Candidates> => {
  const patterns = [...Object.keys(open.rules.sessions ?? {}), ...(open.rules.returns ?? [])];
  return patterns.length === 0 ? { paths: [], left: [] } : lookFor(patterns, open);
};

const lookFor = async (patterns: readonly string[], { copy, scope }: Open): Promise<Candidates> => {
  const found: Candidates = { paths: [], left: [] };
  let looked = 0;
  for await (const { path, entry } of below(copy, (at) => mayHold(at, patterns, scope))) {
    if (!entry.isText) found.left.push({ path, why: 'its name is not UTF-8' });
    else if (entry.isFile && matchesPattern(path, patterns, scope)) found.paths.push(path);
    looked += 1;
    if (looked < MOST_LOOKED_AT) continue;
    found.left.push({ path, why: `there are ${MOST_LOOKED_AT} files or more` });
    break;
  }
  return found;
};

/** Walks a directory and those below it that `mayEnter` allows. */
const below = async function* (root: string, mayEnter: (path: string) => boolean) {
  const directories = [''];
  for (const under of directories) {
    for (const entry of await entriesOf(join(root, under))) {
      const path = join(under, entry.name);
      yield { path, entry };
      if (entry.isDirectory && entry.isText && mayEnter(path)) directories.push(path);
    }
  }
};

interface Closing extends Open {
  shown: Shown;
}

/** Copies back the files that may return. Resolves with those that were not returned, and why. */
export const syncBack = async (open: Closing): Promise<Left[]> => {
  const { paths, left } = await candidatesIn(open);
  let [files, bytes] = [0, 0];
  for (const path of paths.toSorted((a, b) => rankOf(a, open) - rankOf(b, open))) {
    try {
      if (files >= MOST_FILES || bytes >= MOST_BYTES) throw new Error(NO_ROOM);
      const size = await returnFile(open, path);
      files += size === undefined ? 0 : 1;
      bytes += size ?? 0;
    } catch (error) {
      left.push({ path, why: messageOf(error) });
    }
  }
  return left
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, why }) => ({ path: join(open.root, path), why }));
};

// Order: files that existed, the conversation of this run, other new files.
const rankOf = (path: string, { shown, rules, scope }: Closing): number => {
  if (shown.has(path)) return 0;
  return hasSessionId(path, rules, scope) ? 1 : 2;
};

const NOT_SHOWN = 'it existed before, but was hidden from the run';
const NO_ROOM = `the limit of ${MOST_FILES} files or 256 MB is reached`;

/** The number of bytes written; undefined if the file has not changed. */
const returnFile = async (open: Closing, path: string): Promise<number | undefined> => {
  const { root, copy, shown } = open;
  const target = join(root, path);
  const stamp = shown.get(path);
  const bytes = await bytesOf(join(copy, path), LARGEST_BYTES);
  const now = (await isThere(target)) ? await bytesOf(target, LARGEST_BYTES) : undefined;
  if (now?.equals(bytes)) return undefined;
  if (now !== undefined && stamp === undefined) throw new Error(NOT_SHOWN);
  if (stamp !== (await stampAt(target))) throw new Error(CHANGED);
  await assertReturns(open, path, bytes, now);
  if (stamp === undefined) await create(open, path, bytes);
  else await replaceAt(target, stamp, bytes);
  return bytes.length;
};

const assertReturns = async (
  open: Closing,
  path: string,
  bytes: Buffer,
  now: Buffer | undefined,
): Promise<void> => {
  const { rules, scope } = open;
  if (isWhole(path, open)) return;
  const found = conversationAt(path, rules, scope);
  if (found === undefined) throw new Error('no rule allows it');
  const from = found.rule.messages === undefined ? now?.length : 0;
  const why =
    (now && whyNotGrown(now, bytes, found.rule)) ??
    (await whyOtherProject(bytes, { ...found, cwd: scope.cwd, from: from ?? 0 })) ??
    (found.placed ? undefined : await whyNotClaimed(open, path));
  if (why !== undefined) throw new Error(why);
};

const create = async (open: Closing, path: string, bytes: Buffer): Promise<void> => {
  const found = conversationAt(path, open.rules, open.scope);
  if (found?.placed === false && !isWhole(path, open)) await claim(open, path);
  await createAt(open.root, path, bytes);
};

/** Why a conversation's directory does not belong to this project; undefined if it does or does not exist yet. */
const whyNotClaimed = async (
  { root, rules: { claims }, scope }: Open,
  path: string,
): Promise<string | undefined> => {
  if (claims === undefined) return undefined;
  const directory = directoryOf(path, claims);
  const name = directory.slice(claims.within.length + 1);
  if (!(await isThere(join(root, directory))))
    return isNamedAfter(name, claims.name(scope.cwd))
      ? undefined
      : 'its directory has another name';
  const marker = await bytesOf(join(root, directory, claims.marker), LONGEST).catch(() => '');
  return marker.toString().trim() === scope.cwd
    ? undefined
    : 'its directory belongs to another project';
};

/** Creates that directory with this project's marker, unless it exists. */
const claim = async ({ root, rules: { claims }, scope }: Open, path: string): Promise<void> => {
  if (claims === undefined) return;
  const directory = directoryOf(path, claims);
  if (await isThere(join(root, directory))) return;
  await createAt(root, join(directory, claims.marker), Buffer.from(scope.cwd));
};

const LONGEST = 65_536;

const directoryOf = (path: string, { within }: Claims): string =>
  path
    .split('/')
    .slice(0, within.split('/').length + 1)
    .join('/');

const isNamedAfter = (name: string, project: string): boolean =>
  name === project ||
  (name.startsWith(`${project}-`) && /^\d+$/.test(name.slice(project.length + 1)));
