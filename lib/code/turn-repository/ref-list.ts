import { isRefusal } from '../../tools/git/run/error.ts';
import type { GitAt } from '../../tools/git/run/git.ts';
import { kindsOf } from './objects.ts';

/** The refs of a repository: an object each, or `ref: <another>`. Names are read as latin1, byte for byte. */
export type RefList = Map<string, string>;

interface VisibleRefs {
  refs: RefList;
  packed: string;
  /** The kinds of their objects, by their ids. */
  kinds: ReadonlyMap<string, string>;
}

/** What a turn's repository begins with: neither stashes nor what Dossier keeps. Sorted as git sorts. */
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

// Looked into, a ref whose object is gone is an error for all of them.
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

/** A list as it is kept beside the turn's repository. */
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
