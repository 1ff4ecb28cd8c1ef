import { join } from 'node:path';
import { isObject } from '../../tools/git/read/refs.ts';
import { commitsOf } from '../../tools/git/read/repository.ts';
import { DAEMON } from '../../tools/git/run/author.ts';
import { type GitAt, repositoryOf } from '../../tools/git/run/git.ts';
import { kindsOf } from './objects.ts';
import type { RefList } from './ref-list.ts';

const ROOM = 'refs/dossier/pins/';

/** Keeps all commits that a turn begins with from git's clean-up, whoever deletes their branches and tags meanwhile. */
export const pinRefs = async ({ at, place }: GitAt, name: string, refs: RefList): Promise<void> => {
  const git = at(repositoryOf(place));
  const oids = [...new Set(refs.values())].filter(isObject);
  const commits = (await commitsOf(git, oids)).filter((oid) => oid !== undefined);
  if (commits.length === 0) return;
  const pin = await commitOver(git, commits, 'What a turn began with');
  await git.run(['update-ref', `${ROOM}${name}`, pin]);
};

/** Makes a commit that holds others, and nothing else. */
export const commitOver = async (
  git: GitAt,
  commits: readonly string[],
  message: string,
): Promise<string> => {
  const own = git.with({ env: DAEMON });
  const tree = await own.text(['mktree'], { input: '' });
  const parents = [...new Set(commits)].map((oid) => `parent ${oid}\n`).join('');
  const text = `tree ${tree}\n${parents}author ${WHO}\ncommitter ${WHO}\n\n${message}\n`;
  return own.text(['hash-object', '-t', 'commit', '-w', '--stdin'], { input: text });
};

const WHO = 'Dossier <dossier@localhost> 0 +0000';

/** Copies the tags themselves, which no commit can keep, into the objects of the turn. */
export const copyTags = async (git: GitAt, dir: string, refs: RefList): Promise<void> => {
  const kinds = await kindsOf(git, [...new Set(refs.values())].filter(isObject));
  const tags = [...kinds].flatMap(([oid, kind]) => (kind === 'commit' ? [] : [`${oid}\n`]));
  if (tags.length === 0) return;
  const base = join(dir, 'objects', 'pack', 'pack');
  await git.read(['pack-objects', '--quiet', base], { input: tags.join('') });
};

/** Lets go of them. */
export const unpin = async ({ at, place }: GitAt, name: string): Promise<void> => {
  await at(repositoryOf(place)).run(['update-ref', '-d', `${ROOM}${name}`]);
};
