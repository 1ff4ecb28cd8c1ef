import { lstatSync, readFileSync } from 'node:fs';
import { inSlices } from '../../../../store/base/async.ts';
import { orElse } from '../../../../store/base/attempt.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';
import { MOST_LISTED, onDisk } from '../run/index-copy.ts';

/**
 * The files with text that their attribute `ident` hides. git reads `$Id: anything $` as `$Id$`, so no diff, status or
 * commit has that text; git itself writes only an object id there. Paths are latin1.
 */
export const filesHidingText = async (git: GitAt<GitWorktree>): Promise<string[]> => {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { env: { GIT_LITERAL_PATHSPECS: '0' }, max_bytes: MOST_LISTED };
  const paths = await git.names([...args, '--', ':(attr:ident)'], options);
  const found: string[] = [];
  await inSlices(new Set(paths), (path) => {
    if (hidesText(onDisk(git.place, path))) found.push(path);
  });
  return found;
};

// One that is too large to be looked into may hide text.
const hidesText = (path: Buffer): boolean => {
  const found = orElse(() => lstatSync(path), undefined);
  if (found?.isFile() !== true) return false;
  return found.size > MOST_READ || HIDDEN.test(orElse(() => readFileSync(path, 'latin1'), ''));
};

const MOST_READ = 16 * 1024 ** 2;

const HIDDEN = /\$Id:(?! [0-9a-f]{40,64} \$)[^$\n]+\$/;
