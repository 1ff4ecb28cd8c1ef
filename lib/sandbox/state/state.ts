import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { isAtOrBelow } from '../../../store/base/at-or-below.ts';
import { messageOf } from '../../../store/base/message-of.ts';
import { orElse } from '../../../store/base/or-else.ts';
import { writeSynced } from '../../../store/fs/synced.ts';
import type { Bind } from '../sandbox.ts';
import { copyIn, type RefusedFiles } from './copy.ts';
import { bytesOf, replaceAt, stampAt } from './files.ts';
import { judgeLogins, type LoginFile } from './logins.ts';
import type { Mine, StatePlace, StateRules } from './rules.ts';
import { giveBack, type Left, shownIn } from './sync-back.ts';

/** The private copy of an agent's state for one run. */
export interface OpenState {
  /** What lies over the real places inside the sandbox. */
  binds: Bind[];
  /** What was not copied: too large, too much, or of a name that is no UTF-8. */
  refused: RefusedFiles;
  /** Once no process of the run is alive: lets return what may, and answers what of it did not. Never rejects. */
  close(): Promise<Returned>;
}

export interface Returned {
  left: Left[];
  /** Files whose login was refreshed. */
  renewed: string[];
  logins: KeptLogin[];
}

/** A login that does not come back. */
export interface KeptLogin {
  path: string;
  why: string;
  /** Where it is now; undefined where it could not be kept. */
  kept: string | undefined;
}

/** Keeps a text of this name for its owner alone, outside of the agent's home, and answers where. */
export type KeepAside = (name: string, text: string) => Promise<string>;

const LARGEST_JSON = 8 * 1024 * 1024;

/** Copies the places of an agent into `into`, which a session keeps from turn to turn. */
export const openState = async (
  places: readonly StatePlace[],
  into: string,
  mine: Mine,
  keepAside: KeepAside,
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
      const left: Left[] = [];
      for (const place of opened) left.push(...(await place.giveBack()));
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
  giveBack(): Promise<Left[]>;
}

const openPlace = async (place: StatePlace, copy: string, mine: Mine): Promise<OpenPlace> => {
  const { path, rules = {} } = place;
  const found = await lstat(path).catch(() => undefined);
  // What belongs into a file that is not there only the agent knows; in its place it makes none.
  if (found === undefined && isForFile(place)) return NOTHING;
  const isFile = found !== undefined && (await isFileAt(path));
  const refused = isFile ? await copyFileIn(path, copy) : await fill(place, copy, mine);
  const one = { root: path, copy, rules, mine };
  const shown = await shownIn(one);
  const shared = isFile ? [] : await sharedIn(path, rules);
  return {
    binds: [
      { from: copy, to: path, write: true },
      ...shared.map((name) => ({ from: join(path, name), to: join(path, name), write: false })),
    ],
    refused: refused.map((name) => join(path, name)),
    logins: await loginsAt(path, copy, rules),
    giveBack: () => giveBack({ ...one, shown }),
  };
};

const NOTHING: OpenPlace = { binds: [], refused: [], logins: [], giveBack: async () => [] };

// The name of a directory may begin with a dot, and a known agent's may be moved to any name.
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
  // What is nested deeper than the stack is no login.
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
  // Before the text: a change after it is seen.
  stamp: await stampAt(target),
  now: await textAt(target),
  after: await textAt(copy),
});

const textAt = async (path: string): Promise<string | undefined> => {
  const bytes = await bytesOf(path, LARGEST_JSON).catch(() => undefined);
  return bytes?.toString('utf8');
};
