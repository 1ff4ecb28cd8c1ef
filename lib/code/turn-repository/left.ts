import { join } from 'node:path';
import { isObject, STASH, stashOf } from '../../tools/git/read/refs.ts';
import { plainFilesBelow, plainText } from '../../tools/git/run/plain-file.ts';
import type { RefList } from './ref-list.ts';

/** What stands in a repository that an agent could write in, read as plain files: no git is started in it. */
export interface LeftRepository {
  /** The object that HEAD is, or `ref: <name>`; undefined where nobody can tell. */
  head: string | undefined;
  /** A stash is named `refs/stash@{<object>}`, the oldest first. */
  refs: RefList;
  /** What HEAD was, from its log, oldest first. */
  former: string[];
}

const REF_BYTES = 4096;
const PACKED_BYTES = 256 * 1024 * 1024;
const LOG_BYTES = 16 * 1024 * 1024;
const MOST_REFS = 200_000;

/** Reads HEAD, refs and the logs of stashes and HEAD. What is no such thing is not among the answers; never throws. */
export const readLeft = (dir: string): LeftRepository => {
  const refs = packedIn(plainText(join(dir, 'packed-refs'), PACKED_BYTES) ?? '');
  for (const name of plainFilesBelow(join(dir, 'refs'), MOST_REFS)) {
    const ref = `refs/${Buffer.from(name).toString('latin1')}`;
    const value = valueIn(plainText(join(dir, 'refs', name), REF_BYTES) ?? '');
    if (value !== undefined && isName(ref)) refs.set(ref, value);
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
    if (oid !== undefined && ref !== undefined && isName(ref)) refs.set(ref, oid);
  }
  return refs;
};

const valueIn = (text: string): string | undefined => {
  const [, target] = /^ref:\s*(refs\/\S+)\s*$/.exec(text) ?? [];
  if (target !== undefined) return isName(target) ? `ref: ${target}` : undefined;
  return /^([0-9a-f]{40}|[0-9a-f]{64})\s*$/.exec(text)?.[1];
};

// git takes them line by line from its standard input: a name that is none must not become a command there.
export const isName = (ref: string): boolean =>
  ref.length <= 1024 &&
  /^refs(?:\/[^\0-\x20\x7f~^:?*[\\/]+)+$/.test(ref) &&
  !/\.\.|@\{|\/\.|\.(?:\/|$)|\.lock(?:\/|$)/.test(ref);

const logIn = (dir: string, ref: string): string[] =>
  (plainText(join(dir, 'logs', ref), LOG_BYTES) ?? '')
    .split('\n')
    .flatMap((line) => /^[0-9a-f]{40,64} ([0-9a-f]{40}|[0-9a-f]{64}) /.exec(line)?.[1] ?? [])
    .filter((oid) => !/^0+$/.test(oid));
