import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, STASH, stashOf } from '../../tools/git/read/refs.ts';
import { isRefusal } from '../../tools/git/run/error.ts';
import type { GitAt } from '../../tools/git/run/git.ts';
import { latin1 } from '../../tools/git/run/path-text.ts';
import { plainFilesBelow, plainText } from '../../tools/git/run/plain-file.ts';
import { kindsOf } from './import-objects.ts';

/** Refs by name: an object id, or `ref: <target>`. Names are decoded as latin1 to keep every byte. */
export type RefList = Map<string, string>;

export interface KnownRefs {
  refs: RefList;
  /** Object types, by object id. */
  kinds: ReadonlyMap<string, string>;
}

interface VisibleRefs extends KnownRefs {
  packed: string;
}

/** The refs a turn starts with, without stashes and `refs/dossier/`, in git's order. */
export const visibleRefs = async (git: GitAt): Promise<VisibleRefs> => {
  const lines = await listed(git);
  const refs: RefList = new Map();
  const packed: string[] = [];
  const isNested = lines.some(({ inner }) => inner === 'tag');
  for (const { ref, oid, target, peeled } of lines) {
    refs.set(ref, target === '' ? oid : `ref: ${target}`);
    if (target !== '') continue;
    packed.push(`${oid} ${ref}\n`);
    if (!isNested && peeled !== '') packed.push(`^${peeled}\n`);
  }
  const traits = isNested || lines.some(({ peeled }) => peeled === undefined) ? '' : TRAITS;
  const kinds = await kindsIn(git, lines);
  return { refs, kinds, packed: `# pack-refs with: ${traits}sorted \n${packed.join('')}` };
};

const kindsIn = async (git: GitAt, lines: readonly Line[]): Promise<Map<string, string>> =>
  lines.some(({ kind }) => kind === undefined)
    ? kindsOf(git, [...new Set(lines.map(({ oid }) => oid))])
    : new Map(lines.map(({ oid, kind = '' }) => [oid, kind]));

const TRAITS = 'peeled fully-peeled ';

interface Line {
  ref: string;
  oid: string;
  target: string;
  kind: string | undefined;
  peeled: string | undefined;
  inner: string | undefined;
}

// If one ref points to a missing object, git refuses to print types at all: list again without them.
const listed = async (git: GitAt): Promise<Line[]> => {
  try {
    return await list(git, ' %(objecttype) %(*objectname) %(*objecttype)');
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return list(git, '');
  }
};

const list = async (git: GitAt, more: string): Promise<Line[]> => {
  const args = ['for-each-ref', `--format=%(refname) %(objectname) %(symref)${more}`];
  return (await git.lines(args))
    .map((line) => {
      const [ref = '', oid = '', target = '', kind, peeled, inner] = line.split(' ');
      return { ref, oid, target, kind, peeled: more === '' ? undefined : (peeled ?? ''), inner };
    })
    .filter(({ ref }) => !/^refs\/(?:stash$|dossier\/)/.test(ref));
};

/** Serializes refs for the file beside the turn's repository. */
export const listText = (refs: RefList): string =>
  [...refs].map(([ref, value]) => `${ref} ${value}\n`).join('');

export const readList = (text: string): RefList =>
  new Map(
    text
      .split('\n')
      .filter(Boolean)
      .map((line): [string, string] => {
        const space = line.indexOf(' ');
        return [line.slice(0, space), line.slice(space + 1)];
      }),
  );

interface SessionRefs {
  /** The repository of the new turn. */
  dir: string;
  own: ReadonlyMap<string, string>;
  /** The refs of the new turn; restored refs are added. */
  refs: RefList;
}

/**
 * Restores branches, tags and stashes that earlier turns of the session created. A name that the operator's repository
 * uses now is skipped. Returns the types of the objects that still exist.
 */
export const restoreSessionRefs = async (
  git: GitAt,
  { dir, own, refs }: SessionRefs,
): Promise<ReadonlyMap<string, string>> => {
  const named = [...own].filter(([, oid]) => isObject(oid));
  const kinds = await kindsOf(
    git,
    named.map(([, oid]) => oid),
  );
  const there = named.map(([text, oid]) => ({
    ref: latin1(text),
    oid,
    kind: kinds.get(oid),
  }));
  for (const one of there.filter(({ ref, kind }) => isRef(ref, kind)))
    if (isFree(refs, one.ref)) {
      write(join(dir, Buffer.from(one.ref, 'latin1').toString('utf8')), `${one.oid}\n`);
      refs.set(one.ref, one.oid);
    }
  const stashes = there.filter(({ ref, oid, kind }) => ref === stashOf(oid) && kind === 'commit');
  for (const { ref, oid } of stashes) refs.set(ref, oid);
  const oids = stashes.map(({ oid }) => oid);
  if (oids.length > 0) await putStashes(git, { dir, stashes: oids });
  return kinds;
};

const isRef = (ref: string, kind: string | undefined): boolean =>
  kind === 'commit'
    ? /^refs\/(?:heads|tags)\//.test(ref)
    : kind !== undefined && ref.startsWith('refs/tags/');

const isFree = (refs: RefList, ref: string): boolean =>
  isRefName(ref) &&
  [...refs.keys()].every(
    (other) => other !== ref && !other.startsWith(`${ref}/`) && !ref.startsWith(`${other}/`),
  );

const putStashes = async (
  git: GitAt,
  { dir, stashes }: { dir: string; stashes: readonly string[] },
): Promise<void> => {
  const args = ['log', '--no-walk=unsorted', '--format=%s', ...stashes, '--'];
  const subjects = (await git.read(args)).toString('latin1').split('\n');
  const lines = stashes.map((oid, at) => {
    const before = stashes[at - 1] ?? '0'.repeat(oid.length);
    // git treats a timestamp of 0 as missing.
    return `${before} ${oid} Dossier <dossier@localhost> 1 +0000\t${subjects[at] ?? ''}\n`;
  });
  write(join(dir, STASH), `${stashes.at(-1)}\n`);
  write(join(dir, 'logs', STASH), lines.join(''));
};

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, 'latin1');
};

/** Refs of a repository that an agent may have written, read as plain files: git never runs in it. */
export interface UntrustedRefs {
  /** The object id of HEAD, or `ref: <name>`; undefined if the file is malformed. */
  head: string | undefined;
  /** Stashes are named `refs/stash@{<object>}`, oldest first. */
  refs: RefList;
  /** Earlier values of HEAD from its reflog, oldest first. */
  former: string[];
}

const REF_BYTES = 4096;
const PACKED_BYTES = 256 * 1024 * 1024;
const LOG_BYTES = 16 * 1024 * 1024;
const MOST_REFS = 200_000;

/** Reads HEAD, refs and the reflogs of HEAD and the stash. Skips malformed values; never throws. */
export const readUntrustedRefs = (dir: string): UntrustedRefs => {
  const refs = packedIn(plainText(join(dir, 'packed-refs'), PACKED_BYTES) ?? '');
  for (const name of plainFilesBelow(join(dir, 'refs'), MOST_REFS)) {
    const ref = `refs/${latin1(name)}`;
    const value = valueIn(plainText(join(dir, 'refs', name), REF_BYTES) ?? '');
    if (value !== undefined && isRefName(ref)) refs.set(ref, value);
  }
  nameStashes(dir, refs);
  return {
    head: valueIn(plainText(join(dir, 'HEAD'), REF_BYTES) ?? ''),
    refs,
    former: [...new Set(logIn(dir, 'HEAD').slice(-MOST_FORMER))],
  };
};

const nameStashes = (dir: string, refs: RefList): void => {
  const newest = refs.get(STASH) ?? null;
  refs.delete(STASH);
  for (const oid of [...logIn(dir, STASH), newest])
    if (oid !== null && isObject(oid)) refs.set(stashOf(oid), oid);
};

const MOST_FORMER = 1000;

const packedIn = (text: string): RefList => {
  const refs: RefList = new Map();
  for (const line of text.split('\n')) {
    const [, oid, ref] = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/.exec(line) ?? [];
    if (oid !== undefined && ref !== undefined && isRefName(ref)) refs.set(ref, oid);
  }
  return refs;
};

const valueIn = (text: string): string | undefined => {
  const [, target] = /^ref:\s*(refs\/\S+)\s*$/.exec(text) ?? [];
  if (target !== undefined) return isRefName(target) ? `ref: ${target}` : undefined;
  return /^([0-9a-f]{40}|[0-9a-f]{64})\s*$/.exec(text)?.[1];
};

// Names are passed to git line by line on stdin: an invalid name must not become a command.
const isRefName = (ref: string): boolean =>
  ref.length <= 1024 &&
  /^refs(?:\/[^\0-\x20\x7f~^:?*[\\/]+)+$/.test(ref) &&
  !/\.\.|@\{|\/\.|\.(?:\/|$)|\.lock(?:\/|$)/.test(ref);

const logIn = (dir: string, ref: string): string[] =>
  (plainText(join(dir, 'logs', ref), LOG_BYTES) ?? '')
    .split('\n')
    .flatMap((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40}|[0-9a-f]{64}) /.exec(line)?.[1] ?? [])
    .filter((oid) => !/^0+$/.test(oid));
