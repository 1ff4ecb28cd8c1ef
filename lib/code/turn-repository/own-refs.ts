import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, STASH, stashOf } from '../../tools/git/read/refs.ts';
import type { GitAt } from '../../tools/git/run/git.ts';
import { isName } from './left.ts';
import { kindsOf } from './objects.ts';
import type { RefList } from './ref-list.ts';

interface Own {
  /** The repository of the turn that begins. */
  dir: string;
  own: ReadonlyMap<string, string>;
  /** What it begins with: what is put is added. */
  refs: RefList;
}

/**
 * Puts branches, tags and stashes that earlier turns made into the repository of the next, whose objects the operator's
 * repository keeps. A name that is taken there by now is not given twice. Answers the kinds of those that are there.
 */
export const putOwn = async (
  git: GitAt,
  { dir, own, refs }: Own,
): Promise<ReadonlyMap<string, string>> => {
  const named = [...own].filter(([, oid]) => isObject(oid));
  const kinds = await kindsOf(
    git,
    named.map(([, oid]) => oid),
  );
  const there = named.map(([text, oid]) => ({
    ref: Buffer.from(text).toString('latin1'),
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
  isName(ref) &&
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
    // A time of zero is none to git.
    return `${before} ${oid} Dossier <dossier@localhost> 1 +0000\t${subjects[at] ?? ''}\n`;
  });
  write(join(dir, STASH), `${stashes.at(-1)}\n`);
  write(join(dir, 'logs', STASH), lines.join(''));
};

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, 'latin1');
};
