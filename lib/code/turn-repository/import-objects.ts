import { copyFileSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../store/base/message-of.ts';
import type { Checkout, GitAt } from '../../tools/git/run/git.ts';
import { entriesOf } from '../../tools/git/run/plain-file.ts';
import type { Environment } from '../../tools/process/environment.ts';

/** Copies what of a directory of objects git itself could have put there; nothing else of it is looked at. */
const linkObjects = (from: string, to: string): void => {
  mkdirSync(join(to, 'pack'), { recursive: true });
  const rooms = entriesOf(from).filter(
    ({ name, kind }) => kind === 'directory' && /^(?:[0-9a-f]{2}|pack)$/.test(name),
  );
  for (const { name: dir } of rooms) {
    mkdirSync(join(to, dir), { recursive: true });
    const wanted = dir === 'pack' ? PACK : LOOSE;
    const files = entriesOf(join(from, dir)).filter(
      ({ name, kind }) => kind === 'file' && wanted.test(name),
    );
    for (const { name } of files) linkOrCopy(join(from, dir, name), join(to, dir, name));
  }
};

const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const PACK = /^pack-[0-9a-f]{40,64}\.(?:pack|idx)$/;

const linkOrCopy = (from: string, to: string): void => {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
};

/** Has git read and write objects in `dir`, and take what is not there from the repository's own. */
const withObjects = ({ common_dir }: Checkout, dir: string): Environment => ({
  GIT_OBJECT_DIRECTORY: dir,
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(common_dir, 'objects')),
});

// A list by colons, in which a path with one is written as C writes strings.
const quoted = (path: string): string =>
  /[:"\n\\]/.test(path) ? `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;

/** Puts a pack that was verified among the objects of the repository: the index last, for it is what git looks for. */
const migrate = async ({ common_dir }: Checkout, from: string, name: string): Promise<void> => {
  const to = join(common_dir, 'objects', 'pack');
  mkdirSync(to, { recursive: true });
  for (const ending of ['pack', 'idx']) {
    const temporary = join(to, `tmp_dossier_${name}.${ending}`);
    try {
      copyFileSync(join(from, `${name}.${ending}`), temporary);
      await sync(temporary);
      await rename(temporary, join(to, `${name}.${ending}`));
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await sync(to);
};

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Moves a pack to where it is verified. */
const movePack = (from: string, to: string): void => {
  mkdirSync(join(to, '..'), { recursive: true });
  renameSync(from, to);
};

/** What of the wanted objects the repository has now; `broken` says why others could not be taken in. */
interface Brought {
  /** The kind of each by its id. */
  there: Map<string, string>;
  broken: string | undefined;
}

interface Wish {
  /** The objects of the turn's repository. */
  from: string;
  /** A directory of our own, that is not there yet and is removed by whoever asks. */
  room: string;
  /** Commits that the repository surely has, for a ref holds them. */
  held: readonly string[];
  /** In the order of their worth: where not all can be had together, each is tried by itself. */
  tips: readonly string[];
}

/**
 * Takes objects, with all below them, out of a directory in which an agent wrote: copied, packed, verified by what they
 * hold in a place of our own, and only then put into the repository. An id is by that what it says. git never has that
 * directory for its own.
 */
export const importObjects = async (git: GitAt, wish: Wish): Promise<Brought> => {
  const { from, room, held } = wish;
  const tips = wish.tips.filter((oid) => !held.includes(oid));
  const known = await kindsOf(git, tips);
  for (const oid of held) known.set(oid, 'commit');
  const missing = tips.filter((oid) => !known.has(oid));
  if (missing.length === 0) return { there: known, broken: undefined };
  const gathered = join(room, 'gathered');
  linkObjects(from, gathered);
  const found = await kindsOf(git, missing, gathered);
  const wanted = missing.filter((oid) => found.has(oid));
  const left = missing.length - wanted.length;
  let broken = left > 0 ? `${left} objects that it names are not there` : undefined;
  const bring = (some: readonly string[], at: number) =>
    bringPacked(git, { gathered, room: join(room, String(at)), tips: some });
  const why = wanted.length === 0 ? undefined : await reasonOf(() => bring(wanted, 0));
  if (why !== undefined) {
    broken = why;
    if (wanted.length > 1)
      for (const [at, oid] of wanted.slice(0, MOST_ALONE).entries())
        await reasonOf(() => bring([oid], at + 1));
  }
  return { there: new Map([...known, ...(await kindsOf(git, tips))]), broken };
};

const MOST_ALONE = 50;

const reasonOf = async (work: () => Promise<void>): Promise<string | undefined> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** The kinds of those objects that are there, by their ids; `objects`: a directory of more of them. */
export const kindsOf = async (
  git: GitAt,
  oids: readonly string[],
  objects?: string,
): Promise<Map<string, string>> => {
  if (oids.length === 0) return new Map();
  const lines = await git.lines(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: oids.map((oid) => `${oid}\n`).join(''),
    ok: [0, 128],
    ...(objects !== undefined && { env: withObjects(git.place, objects) }),
  });
  return new Map(
    lines.flatMap((line) => {
      const [, oid, kind] = /^([0-9a-f]+) (commit|tree|blob|tag)$/.exec(line) ?? [];
      return oid === undefined || kind === undefined ? [] : [[oid, kind] as const];
    }),
  );
};

interface Packing {
  gathered: string;
  room: string;
  tips: readonly string[];
}

const bringPacked = async (git: GitAt, { gathered, room, tips }: Packing): Promise<void> => {
  const input = [...tips, ...(await existingTips(git)).map((oid) => `^${oid}`), ''].join('\n');
  const base = join(gathered, 'pack', 'dossier');
  const args = ['pack-objects', '--quiet', '--revs', base];
  const gatheredToo = withObjects(git.place, gathered);
  const hash = await git.text(args, { input, timeout_ms: TIMEOUT_MS, env: gatheredToo });
  const name = `pack-${hash}`;
  const verified = join(room, 'objects');
  movePack(`${base}-${hash}.pack`, join(verified, 'pack', `${name}.pack`));
  const env = withObjects(git.place, verified);
  const options = { read: true, timeout_ms: TIMEOUT_MS, env };
  // The ids are made anew of what the pack holds, whatever it was found under.
  await git.run(['index-pack', STRICT, join(verified, 'pack', `${name}.pack`)], options);
  await git.run(['rev-list', '--objects', '--quiet', '--stdin'], { ...options, input });
  await migrate(git.place, join(verified, 'pack'), name);
};

// A ref whose object is gone would be an error for all.
const existingTips = async (git: GitAt): Promise<string[]> => {
  const listed = new Set(await git.lines(['for-each-ref', '--format=%(objectname)']));
  return [...(await kindsOf(git, [...listed])).keys()];
};

const TIMEOUT_MS = 30 * 60_000;

// What old histories have, that an agent may fetch, is no harm.
const STRICT =
  '--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,badDateOverflow=ignore,zeroPaddedFilemode=ignore';
