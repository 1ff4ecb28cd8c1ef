import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import type { GitWorktree } from '../run/git.ts';
import { onDisk } from '../run/index-file.ts';
import { pathText } from '../run/path-text.ts';
import type { FileStatus } from './status.ts';

/**
 * Why a changed file is not committed unasked; undefined for one that is. Tracked files are in the repository already, with
 * whatever they hold.
 */
export const whyLeftOut = (
  worktree: GitWorktree,
  file: FileStatus,
): 'secret' | 'large' | 'repository' | undefined => {
  if (file.code !== '??') return undefined;
  if (file.repository) return 'repository';
  if (SECRET.test(basename(pathText(file.path)))) return 'secret';
  const stats = lstatSync(onDisk(worktree, file.path), { throwIfNoEntry: false });
  return (stats?.size ?? 0) > LARGE ? 'large' : undefined;
};

const LARGE = 5_000_000;

// The names that tools give to files of secrets; an example of one is none.
const SECRET =
  /^(?:\.env(?:\.(?!example$|sample$|template$|dist$).*)?|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml)|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$/i;
