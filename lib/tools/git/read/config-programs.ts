import { isAbsolute, join, relative } from 'node:path';
import { listSettings } from '../run/config.ts';
import type { GitAt, GitWorktree } from '../run/git.ts';

/** Programs and paths that git's configuration, the operator's and the repository's, names in a worktree. */
export interface NamedInSettings {
  /** The value of `core.hooksPath`, relative to the worktree. */
  hooks: string[];
  /** Included files, relative to the worktree. */
  includes: string[];
  /** Settings whose value is a program. */
  programs: { key: string; value: string }[];
}

export const namedInSettings = async (git: GitAt<GitWorktree>): Promise<NamedInSettings> => {
  const entries = await listSettings(git, 'utf8');
  const { path: root, common_dir } = git.place;
  const valuesOf = (key: RegExp): string[] =>
    entries.flatMap((entry) => (key.test(entry.key) && entry.value ? [entry.value] : []));
  const inside = (from: string, paths: readonly string[]): string[] =>
    paths
      .map((path) => relative(root, isAbsolute(path) ? path : join(from, path)))
      .filter((path) => path !== '' && !path.startsWith('..') && !isAbsolute(path));
  return {
    hooks: inside(root, valuesOf(/^core\.hookspath$/)),
    // Relative to the including file: usually the repository's own.
    includes: inside(common_dir, valuesOf(/^include(?:if\..*)?\.path$/s)),
    programs: entries.flatMap(({ key, value }) =>
      PROGRAM.test(key) && value ? [{ key, value }] : [],
    ),
  };
};

const PROGRAM =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|alias\..*|core\.(?:fsmonitor|sshcommand|editor|pager|askpass)|credential\..*helper|gpg\..*program)$/s;
