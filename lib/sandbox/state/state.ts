import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { messageOf, orElse } from '../../../store/base/attempt.ts';
import { isAtOrBelow } from '../../../store/base/paths.ts';
import { writeSynced } from '../../../store/fs/synced.ts';
import type { Bind } from '../view.ts';
import { isObject, objectIn } from './conversation-owner.ts';
import { copyIn, type RefusedFiles } from './copy.ts';
import { bytesOf, isThere, replaceAt, stampAt } from './files.ts';
import { judgeLogins, type LoginFile } from './logins.ts';
import type { JsonObject, RunScope, StatePlace, StateRules } from './rules.ts';
import { type Left, shownIn, syncBack } from './sync-back.ts';

/** The private copy of an agent's state for one run. */
export interface OpenState {
  /** Mounts of the copies over the real paths inside the sandbox. */
  binds: Bind[];
  /** Paths that were not copied: too large, too many, or with a name that is not UTF-8. */
  refused: RefusedFiles;
  /** Copies back what may return. Call it after the last process of the run has ended. Never rejects. */
  close(): Promise<Returned>;
}

export interface Returned {
  left: Left[];
  /** Files whose login was refreshed. */
  renewed: string[];
  logins: KeptLogin[];
}

/** A login that was not returned. */
interface KeptLogin extends Left {
  /** The path where it was stored; undefined if that failed. */
  kept: string | undefined;
}

/** Stores a text outside the agent's home with mode 0600, and returns its path. */
export type KeepAside = (name: string, text: string) => Promise<string>;

const LARGEST_JSON = 8 * 1024 * 1024;

/** Copies the state of an agent into `into`, which the turns of a session share. */
export const openState = async (
  places: readonly StatePlace[],
  into: string,
  scope: RunScope,
  keepAside: KeepAside,
): Promise<OpenState> => {
  const opened: OpenPlace[] = [];
  for (const [at, place] of places.entries()) {
    // A path in the worktree needs no copy.
    if (isAtOrBelow(place.path, scope.cwd)) continue;
    opened.push(await openPlace(place, join(into, `${at}`), scope));
  }
  return {
    binds: opened.flatMap(({ binds }) => binds),
    refused: opened.flatMap(({ refused }) => refused),
    close: async () => {
      const left: Left[] = [];
      for (const place of opened) left.push(...(await place.syncBack()));
      const logins = opened.flatMap((place) => place.logins);
      const returned = await returnLogins(logins, keepAside);
      return { ...returned, left: [...left, ...returned.left] };
    },
  };
};

interface OpenPlace {
  binds: Bind[];
  refused: RefusedFiles;
  logins: HeldLogin[];
  syncBack(): Promise<Left[]>;
}

const openPlace = async (place: StatePlace, copy: string, scope: RunScope): Promise<OpenPlace> => {
  const { path, rules = {} } = place;
  const found = await isThere(path);
  // A missing file is not created: only the agent knows its content.
  if (!found && isForFile(place)) return NOTHING;
  const isFile = found && (await isFileAt(path));
  const refused = isFile ? await copyFileIn(path, copy) : await fill(place, copy, scope);
  if (!isFile) await setValues(copy, rules);
  const one = { root: path, copy, rules, scope };
  const shown = await shownIn(one);
  const shared = isFile ? [] : await sharedIn(path, rules);
  return {
    binds: [
      { from: copy, to: path, write: true },
      ...shared.map((name) => ({ from: join(path, name), to: join(path, name), write: false })),
    ],
    refused: refused.map((name) => join(path, name)),
    logins: await loginsAt(path, copy, rules),
    syncBack: () => syncBack({ ...one, shown }),
  };
};

const NOTHING: OpenPlace = { binds: [], refused: [], logins: [], syncBack: async () => [] };

// Without rules, an extension means a file. With rules, the name says nothing: the operator may move the path.
const isForFile = ({ path, rules }: StatePlace): boolean =>
  rules?.logins === undefined ? extname(path) !== '' : Object.hasOwn(rules.logins, '');

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
  await writeSynced(copy, await readFile(path), mode & 0o777);
  return [];
};

// A path without rules is copied once per session, because its conversations are unknown and must survive the turns.
const fill = async (place: StatePlace, copy: string, scope: RunScope): Promise<RefusedFiles> => {
  const there = await isDirectoryAt(copy);
  if (!there) await rm(copy, { force: true });
  await mkdir(copy, { recursive: true, mode: 0o700 });
  if (there && (place.rules === undefined || place.rules.returns !== undefined)) return [];
  return copyIn(place.path, copy, { rules: place.rules ?? {}, scope });
};

// A link, and a file with comments, stays as it is: a setting of the operator is worth more.
const setValues = async (copy: string, { sets = {} }: StateRules): Promise<void> => {
  for (const [name, values] of Object.entries(sets)) {
    const path = join(copy, name);
    const found = await isThere(path);
    const now = found ? objectIn(await textAt(path)) : {};
    if (now === undefined) continue;
    // The operator's may be read-only, and so the copy.
    await rm(path, { force: true });
    await writeFile(path, JSON.stringify(merged(now, values)), { mode: 0o600, flag: 'wx' });
  }
};

const merged = (object: JsonObject, values: JsonObject): JsonObject => ({
  ...object,
  ...Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const now = object[key];
      return [key, isObject(value) ? merged(isObject(now) ? now : {}, value) : value];
    }),
  ),
});

const sharedIn = async (path: string, { shared = [] }: StateRules): Promise<string[]> => {
  const found: string[] = [];
  for (const name of shared) if (await isDirectoryAt(join(path, name))) found.push(name);
  return found;
};

const isDirectoryAt = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() === true;

interface HeldLogin extends Pick<LoginFile, 'rule' | 'before'> {
  target: string;
  copy: string;
}

const loginsAt = (root: string, copy: string, { logins = {} }: StateRules): Promise<HeldLogin[]> =>
  Promise.all(
    Object.entries(logins).map(async ([name, rule]) => ({
      rule,
      target: join(root, name),
      copy: join(copy, name),
      before: await textAt(join(copy, name)),
    })),
  );

const returnLogins = async (
  held: readonly HeldLogin[],
  keepAside: KeepAside,
): Promise<Returned> => {
  const returned: Returned = { left: [], renewed: [], logins: [] };
  const now = await Promise.all(
    held.map(async (login) => ({ ...login, ...(await readNow(login)) })),
  );
  // A value nested too deep for the stack is no login.
  for (const [at, { text, aside }] of orElse(() => judgeLogins(now), []).entries()) {
    const { target: path = '', stamp } = now[at] ?? {};
    if (text !== undefined && stamp !== undefined) {
      const done = replaceAt(path, stamp, Buffer.from(text));
      await done.then(
        () => returned.renewed.push(path),
        (error: unknown) => returned.left.push({ path, why: messageOf(error) }),
      );
    }
    if (aside === undefined) continue;
    const kept = await keepAside(basename(path), aside.text).catch(() => undefined);
    returned.logins.push({ path, why: aside.why, kept });
  }
  return returned;
};

const readNow = async ({ target, copy }: HeldLogin) => ({
  // Read before the text, so that a later change is noticed.
  stamp: await stampAt(target),
  now: await textAt(target),
  after: await textAt(copy),
});

const textAt = async (path: string): Promise<string | undefined> => {
  const bytes = await bytesOf(path, LARGEST_JSON).catch(() => undefined);
  return bytes?.toString('utf8');
};
