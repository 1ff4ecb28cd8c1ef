import { join } from 'node:path';
import { messageOf } from '../../../store/base/message-of.ts';
import { notGrown, notOfProject } from './conversation-owner.ts';
import {
  bytesOf,
  CHANGED,
  createAt,
  entriesOf,
  isThere,
  LARGEST_BYTES,
  NotReturned,
  replaceAt,
  stampAt,
} from './files.ts';
import {
  type Claims,
  hasId,
  isMine,
  isOfWorktree,
  type Mine,
  matchesPattern,
  mayHold,
  type StateRules,
  sessionPattern,
} from './rules.ts';

/** What was not returned. */
export interface Left {
  path: string;
  why: string;
}

interface Open {
  /** The real place, and its copy. */
  root: string;
  copy: string;
  rules: StateRules;
  mine: Mine;
}

/** Of what was there and the run was shown, by its path, how it was then. */
export type Shown = ReadonlyMap<string, string>;

// At a time; conversations that a run began, or went on with.
const MOST_FILES = 200;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_LOOKED_AT = 20_000;

/** What of the real place stands in its copy as the run begins, and may come back. */
export const shownIn = async (open: Open): Promise<Shown> => {
  const { root, copy, rules, mine } = open;
  const shown = new Map<string, string>();
  for (const path of (await candidatesIn(open)).paths) {
    const stamp = await stampAt(join(root, path));
    if (stamp === undefined) continue;
    // Of what goes on with an older copy, only what is still the same was shown.
    const was = isWhole(path, open)
      ? await isEqual(join(root, path), join(copy, path))
      : isMine(path, rules, mine);
    if (was) shown.set(path, stamp);
  }
  return shown;
};

const isWhole = (path: string, { rules, mine }: Open): boolean =>
  matchesPattern(path, rules.returns, mine);

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

/** The files of a copy that are what may return. No link is followed. */
const candidatesIn = async (open: Open): Promise<Candidates> => {
  const patterns = [...Object.keys(open.rules.sessions ?? {}), ...(open.rules.returns ?? [])];
  return patterns.length === 0 ? { paths: [], left: [] } : lookFor(patterns, open);
};

const lookFor = async (patterns: readonly string[], { copy, mine }: Open): Promise<Candidates> => {
  const found: Candidates = { paths: [], left: [] };
  let looked = 0;
  for await (const { path, entry } of below(copy, (at) => mayHold(at, patterns, mine))) {
    if (!entry.isText) found.left.push({ path, why: 'its name is no UTF-8' });
    else if (entry.isFile && matchesPattern(path, patterns, mine)) found.paths.push(path);
    looked += 1;
    if (looked < MOST_LOOKED_AT) continue;
    found.left.push({ path, why: `there are ${MOST_LOOKED_AT} files or more` });
    break;
  }
  return found;
};

/** What is in a directory, and in those below it that may hold what is looked for. */
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

/** Returns what may, and answers what did not, and why. */
export const giveBack = async (open: Closing): Promise<Left[]> => {
  const { paths, left } = await candidatesIn(open);
  let [files, bytes] = [0, 0];
  for (const path of paths.toSorted((a, b) => rankOf(a, open) - rankOf(b, open))) {
    try {
      if (files >= MOST_FILES || bytes >= MOST_BYTES) throw new NotReturned(NO_ROOM);
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

// What was there, then the conversation of the run itself, then all else that is new.
const rankOf = (path: string, { shown, mine }: Closing): number => {
  if (shown.has(path)) return 0;
  return hasId(path, mine) ? 1 : 2;
};

const NOT_SHOWN = 'it was there, and was not shown to the run';
const NO_ROOM = `${MOST_FILES} files, or 256 MB, have come back already`;

/** How many bytes were written; undefined where all is as it was. */
const returnFile = async (open: Closing, path: string): Promise<number | undefined> => {
  const { root, copy, shown } = open;
  const target = join(root, path);
  const stamp = shown.get(path);
  const bytes = await bytesOf(join(copy, path), LARGEST_BYTES);
  const now = (await isThere(target)) ? await bytesOf(target, LARGEST_BYTES) : undefined;
  if (now?.equals(bytes)) return undefined;
  if (now !== undefined && stamp === undefined) throw new NotReturned(NOT_SHOWN);
  if (stamp !== (await stampAt(target))) throw new NotReturned(CHANGED);
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
  const { rules, mine } = open;
  if (isWhole(path, open)) return;
  const pattern = sessionPattern(path, rules, mine);
  const rule = pattern === undefined ? undefined : rules.sessions?.[pattern];
  if (pattern === undefined || rule === undefined) throw new NotReturned('nobody knows what it is');
  const from = rule.messages === undefined ? now?.length : 0;
  const looked = { rule, cwd: mine.cwd, placed: isOfWorktree(pattern), from: from ?? 0 };
  const why =
    (now && notGrown(now, bytes, rule)) ??
    (await notOfProject(bytes, looked)) ??
    (isOfWorktree(pattern) ? undefined : await notClaimed(open, path));
  if (why !== undefined) throw new NotReturned(why);
};

const create = async (open: Closing, path: string, bytes: Buffer): Promise<void> => {
  const pattern = sessionPattern(path, open.rules, open.mine);
  const isPlaced = pattern === undefined || isOfWorktree(pattern);
  if (!isPlaced && !isWhole(path, open)) await claim(open, path);
  await createAt(open.root, path, bytes);
};

interface Place {
  root: string;
  rules: StateRules;
  mine: Mine;
}

/** Why the directory that a conversation lies in is not this project's; one that is not there yet may become so. */
const notClaimed = async (
  { root, rules: { claims }, mine }: Place,
  path: string,
): Promise<string | undefined> => {
  if (claims === undefined) return undefined;
  const directory = directoryOf(path, claims);
  const name = directory.slice(claims.within.length + 1);
  if (!(await isThere(join(root, directory))))
    return isNamedAfter(name, claims.name(mine.cwd)) ? undefined : 'its directory has another name';
  const marker = await bytesOf(join(root, directory, claims.marker), LONGEST).catch(() => '');
  return marker.toString().trim() === mine.cwd ? undefined : "its directory is another project's";
};

/** Makes that directory this project's where it is not there yet: no other project takes it then. */
const claim = async ({ root, rules: { claims }, mine }: Place, path: string): Promise<void> => {
  if (claims === undefined) return;
  const directory = directoryOf(path, claims);
  if (await isThere(join(root, directory))) return;
  await createAt(root, join(directory, claims.marker), Buffer.from(mine.cwd));
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
