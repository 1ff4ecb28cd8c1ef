import { copyFileSync, linkSync, mkdirSync, renameSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDone, messageOf } from '../../../store/base/attempt.ts';
import { syncFile } from '../../../store/fs/synced.ts';
import type { Checkout, GitAt } from '../../tools/git/run/git.ts';
import { entriesOf } from '../../tools/git/run/plain-file.ts';
import type { Environment } from '../../tools/process/environment.ts';

/** Links or copies loose objects and packs from an untrusted object directory; ignores all other files. */
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
    for (const { name } of files) {
      const [file, copy] = [join(from, dir, name), join(to, dir, name)];
      if (!isDone(() => linkSync(file, copy))) copyFileSync(file, copy);
    }
  }
};

const LOOSE = /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/;
const PACK = /^pack-[0-9a-f]{40,64}\.(?:pack|idx)$/;

/** Makes git read and write objects in `dir`, with the repository's own objects as alternates. */
const withObjects = ({ common_dir }: Checkout, dir: string): Environment => ({
  GIT_OBJECT_DIRECTORY: dir,
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(common_dir, 'objects')),
});

// The list is separated by colons; a path with a colon is quoted like a C string.
const quoted = (path: string): string =>
  /[:"\n\\]/.test(path) ? `"${path.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path;

/** Adds a verified pack to the repository: the index last, because git discovers packs by it. */
const addPack = async ({ common_dir }: Checkout, from: string, name: string): Promise<void> => {
  const to = join(common_dir, 'objects', 'pack');
  mkdirSync(to, { recursive: true });
  for (const ending of ['pack', 'idx']) {
    const temporary = join(to, `tmp_dossier_${name}.${ending}`);
    try {
      copyFileSync(join(from, `${name}.${ending}`), temporary);
      await syncFile(temporary);
      await rename(temporary, join(to, `${name}.${ending}`));
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await syncFile(to);
};

const movePack = (from: string, to: string): void => {
  mkdirSync(join(to, '..'), { recursive: true });
  renameSync(from, to);
};

/** The requested objects that the repository now has; `broken` says why others could not be imported. */
interface ImportedObjects {
  /** Object types, by object id. */
  there: Map<string, string>;
  broken: string | undefined;
}

interface ImportRequest {
  /** The object directory of the turn's repository. */
  from: string;
  /** A new temporary directory; the caller removes it. */
  room: string;
  /** Commits that the repository has, because a ref protects them. */
  held: readonly string[];
  /** By descending importance: if they cannot be imported together, each is tried on its own. */
  tips: readonly string[];
}

/**
 * Imports objects and all that they reach from a directory that an agent could write. They are copied into quarantine,
 * packed, verified by `index-pack --strict`, which recomputes every id, and only then added to the repository. git never
 * runs with the untrusted directory as its own.
 */
export const importObjects = async (
  git: GitAt,
  request: ImportRequest,
): Promise<ImportedObjects> => {
  const { from, room, held } = request;
  const tips = request.tips.filter((oid) => !held.includes(oid));
  const known = await kindsOf(git, tips);
  for (const oid of held) known.set(oid, 'commit');
  const missing = tips.filter((oid) => !known.has(oid));
  if (missing.length === 0) return { there: known, broken: undefined };
  const gathered = join(room, 'gathered');
  linkObjects(from, gathered);
  const found = await kindsOf(git, missing, gathered);
  const wanted = missing.filter((oid) => found.has(oid));
  const left = missing.length - wanted.length;
  let broken = left > 0 ? `${left} referenced objects are missing` : undefined;
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

/** The types of those objects that exist, by id. `objects` is an additional object directory. */
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
  // Recomputes all ids from the content of the pack.
  await git.run(['index-pack', STRICT, join(verified, 'pack', `${name}.pack`)], options);
  await git.run(['rev-list', '--objects', '--quiet', '--stdin'], { ...options, input });
  await addPack(git.place, join(verified, 'pack'), name);
};

// Drops refs to missing objects: one would make the whole command fail.
const existingTips = async (git: GitAt): Promise<string[]> => {
  const listed = new Set(await git.lines(['for-each-ref', '--format=%(objectname)']));
  return [...(await kindsOf(git, [...listed])).keys()];
};

const TIMEOUT_MS = 30 * 60_000;

// Harmless defects that old public histories contain.
const STRICT =
  '--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,badDateOverflow=ignore,zeroPaddedFilemode=ignore';
