import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { isAtOrBelow } from '../../../base/at-or-below.ts';
import type { Bind } from '../sandbox.ts';
import { copyIn, type RefusedFiles, regularFiles, stampOf } from './copy.ts';
import { mergeKeys } from './keys.ts';
import { type Mine, matchesPattern, type StatePlace, type StateRules } from './place.ts';

/** The private copy of an agent's state for one run. */
export interface OpenState {
  /** What lies over the real places inside the sandbox. */
  binds: Bind[];
  /** What was too large to be copied. */
  refused: RefusedFiles;
  /** Once no process of the run is alive: lets return what may, and answers what of it could not. Never rejects. */
  close(): Promise<string[]>;
}

const LARGEST_JSON = 4 * 1024 * 1024;

/** Copies the places of an agent into `into`, which a session keeps from turn to turn. */
export const openState = async (
  places: readonly StatePlace[],
  into: string,
  mine: Mine,
): Promise<OpenState> => {
  const opened: OpenPlace[] = [];
  for (const [at, place] of places.entries()) {
    // What lies in the worktree is the worktree's.
    if (isAtOrBelow(place.path, mine.cwd)) continue;
    opened.push(await openPlace(place, join(into, `${at}`), mine));
  }
  return {
    binds: opened.flatMap(({ binds }) => binds),
    refused: opened.flatMap(({ refused }) => refused),
    close: async () => {
      const failed: string[] = [];
      for (const { giveBack } of opened) failed.push(...(await giveBack()));
      return failed;
    },
  };
};

interface OpenPlace {
  binds: Bind[];
  refused: RefusedFiles;
  giveBack(): Promise<string[]>;
}

const openPlace = async (place: StatePlace, copy: string, mine: Mine): Promise<OpenPlace> => {
  const { path, rules = {} } = place;
  const found = await lstat(path).catch(() => undefined);
  // What belongs into a file that is not there only the agent knows; in its place it makes none.
  if (found === undefined && isForFile(place)) return NOTHING;
  const isFile = found !== undefined && (await isFileAt(path));
  const refused = isFile ? await copyFileIn(path, copy) : await fill(place, copy, mine);
  const before = await pictureOf(path, isFile, { rules, mine });
  const shared = isFile ? [] : await sharedIn(path, rules);
  return {
    binds: [
      { from: copy, to: path, write: true },
      ...shared.map((name) => ({ from: join(path, name), to: join(path, name), write: false })),
    ],
    refused: refused.map((name) => join(path, name)),
    giveBack: () => giveBack({ path, copy, rules, mine, before }),
  };
};

const NOTHING: OpenPlace = { binds: [], refused: [], giveBack: async () => [] };

// The name of a directory may begin with a dot, and a known agent's may be moved to any name.
const isForFile = ({ path, rules }: StatePlace): boolean =>
  rules?.keys === undefined ? extname(path) !== '' : Object.hasOwn(rules.keys, '');

const isFileAt = async (path: string): Promise<boolean> => {
  const handle = await open(path, constants.O_RDONLY).catch(() => undefined);
  const is = (await handle?.stat())?.isFile() === true;
  await handle?.close();
  return is;
};

const copyFileIn = async (path: string, copy: string): Promise<RefusedFiles> => {
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  await rm(copy, { recursive: true, force: true });
  const { mode } = await stat(path);
  await write(copy, await readFile(path), mode & 0o777);
  return [];
};

// A place that nobody knows is copied once: what in it is a conversation, which has to go on, cannot be told.
const fill = async (place: StatePlace, copy: string, mine: Mine): Promise<RefusedFiles> => {
  const there = (await lstat(copy).catch(() => undefined))?.isDirectory() === true;
  if (!there) await rm(copy, { force: true });
  await mkdir(copy, { recursive: true, mode: 0o700 });
  if (there && place.rules === undefined) return [];
  if (there && place.rules?.returns !== undefined) return [];
  return copyIn(place.path, copy, { rules: place.rules ?? {}, mine });
};

const sharedIn = async (path: string, { shared = [] }: StateRules): Promise<string[]> => {
  const found: string[] = [];
  for (const name of shared) {
    if ((await lstat(join(path, name)).catch(() => undefined))?.isDirectory()) found.push(name);
  }
  return found;
};

interface Picture {
  stamps: Map<string, string | undefined>;
  texts: Map<string, string>;
}

interface Known {
  rules: StateRules;
  mine: Mine;
}

const goesBack = (path: string, { rules, mine }: Known): boolean =>
  matchesPattern(path, [...(rules.sessions ?? []), ...(rules.returns ?? [])], mine);

const pictureOf = async (root: string, isFile: boolean, known: Known): Promise<Picture> => {
  const stamps = new Map<string, string | undefined>();
  const texts = new Map<string, string>();
  for (const path of isFile ? [''] : await regularFiles(root))
    if (goesBack(path, known)) stamps.set(path, await stampOf(join(root, path)));
  for (const path of Object.keys(known.rules.keys ?? {})) {
    const text = await textOf(join(root, path));
    if (text !== undefined) texts.set(path, text);
  }
  return { stamps, texts };
};

interface Return extends Known {
  path: string;
  copy: string;
  before: Picture;
}

const giveBack = async (one: Return): Promise<string[]> => {
  const failed: string[] = [];
  const attempt = async (path: string, work: () => Promise<void>): Promise<void> => {
    await work().catch(() => failed.push(join(one.path, path)));
  };
  for (const path of await regularFiles(one.copy).catch(() => []))
    if (goesBack(path, one)) await attempt(path, () => returnFile(one, path));
  for (const [path, keys] of Object.entries(one.rules.keys ?? {}))
    await attempt(path, () => returnKeys(one, path, keys));
  return failed;
};

// Only over what the run began with: what somebody else wrote meanwhile is newer.
const returnFile = async ({ path: root, copy, before }: Return, path: string): Promise<void> => {
  const target = join(root, path);
  const was = before.stamps.get(path) ?? '';
  if ((await stampOf(target)) !== was) throw new Error('changed meanwhile');
  const bytes = await bytesOf(join(copy, path));
  const same = was !== '' && bytes.equals(await readFile(target));
  if (same) return;
  await ownDirectories(root, dirname(path));
  await replace(target, bytes, was === '' ? 0o600 : (await lstat(target)).mode & 0o777);
};

const returnKeys = async (
  { path: root, copy, before }: Return,
  path: string,
  keys: readonly string[],
): Promise<void> => {
  const target = join(root, path);
  const [was, now, after] = [
    before.texts.get(path),
    await textOf(target),
    await textOf(join(copy, path)),
  ];
  if (was === undefined || now === undefined || after === undefined) return;
  const merged = mergeKeys({ before: was, now, after }, keys);
  if (merged !== undefined)
    await replace(target, Buffer.from(merged), (await lstat(target)).mode & 0o777);
};

// No link on the way: an earlier run may have left one, to lead us elsewhere.
const ownDirectories = async (root: string, under: string): Promise<void> => {
  let at = root;
  for (const name of ['', ...under.split('/')].filter((part) => part !== '.')) {
    at = join(at, name);
    await mkdir(at, { recursive: name === '', mode: 0o700 }).catch(() => undefined);
    if (name !== '' && !(await lstat(at)).isDirectory()) throw new Error('not a directory');
  }
};

const textOf = async (path: string): Promise<string | undefined> => {
  const bytes = await bytesOf(path, LARGEST_JSON).catch(() => undefined);
  return bytes?.toString('utf8');
};

const LARGEST_FILE = 512 * 1024 * 1024;

const bytesOf = async (path: string, most = LARGEST_FILE): Promise<Buffer> => {
  const handle: FileHandle = await open(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > most) throw new Error('no file of ours');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
};

const replace = async (path: string, bytes: Buffer, mode: number): Promise<void> => {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await write(temporary, bytes, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

const write = async (path: string, bytes: Buffer, mode: number): Promise<void> => {
  const handle = await open(path, 'wx', mode);
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
};
