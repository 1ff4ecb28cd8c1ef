import { join } from 'node:path';
import { isObject } from '../../tools/git/read/refs.ts';
import { commitsOf } from '../../tools/git/read/repository.ts';
import { DAEMON } from '../../tools/git/run/author.ts';
import type { Checkout, Git, Runner } from '../../tools/git/run/git.ts';
import { kindsOf } from './objects.ts';
import type { RefList } from './ref-list.ts';

const ROOM = 'refs/dossier/pins/';

/** Keeps all commits that a turn begins with from git's clean-up, whoever deletes their branches and tags meanwhile. */
export const pinRefs = async (
  git: Git,
  { common_dir }: Checkout,
  name: string,
  refs: RefList,
): Promise<void> => {
  const place = { git_dir: common_dir, common_dir };
  const oids = [...new Set(refs.values())].filter(isObject);
  const commits = (await commitsOf(git, place, oids)).filter((oid) => oid !== undefined);
  if (commits.length === 0) return;
  const pin = await commitOver({ run: git.run }, place, commits, 'What a turn began with');
  await git.run(place, ['update-ref', `${ROOM}${name}`, pin]);
};

/** Makes a commit that holds others, and nothing else. */
export const commitOver = async (
  git: Runner,
  place: Checkout,
  commits: readonly string[],
  message: string,
): Promise<string> => {
  const write = async (args: readonly string[], input: string): Promise<string> =>
    (await git.run(place, args, { read: true, input, env: DAEMON })).stdout
      .toString('latin1')
      .trim();
  const tree = await write(['mktree'], '');
  const parents = [...new Set(commits)].map((oid) => `parent ${oid}\n`).join('');
  const text = `tree ${tree}\n${parents}author ${WHO}\ncommitter ${WHO}\n\n${message}\n`;
  return write(['hash-object', '-t', 'commit', '-w', '--stdin'], text);
};

const WHO = 'Dossier <dossier@localhost> 0 +0000';

/** Copies the tags themselves, which no commit can keep, into the objects of the turn. */
export const copyTags = async (
  git: Git,
  place: Checkout,
  dir: string,
  refs: RefList,
): Promise<void> => {
  const kinds = await kindsOf(git, place, [...new Set(refs.values())].filter(isObject));
  const tags = [...kinds].flatMap(([oid, kind]) => (kind === 'commit' ? [] : [`${oid}\n`]));
  if (tags.length === 0) return;
  const base = join(dir, 'objects', 'pack', 'pack');
  await git.run(place, ['pack-objects', '--quiet', base], { read: true, input: tags.join('') });
};

/** Lets go of them. */
export const unpin = async (git: Git, { common_dir }: Checkout, name: string): Promise<void> => {
  const place = { git_dir: common_dir, common_dir };
  await git.run(place, ['update-ref', '-d', `${ROOM}${name}`]);
};
