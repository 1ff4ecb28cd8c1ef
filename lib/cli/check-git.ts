import type { Config } from '../config.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import type { Git } from '../tools/git/run/git.ts';
import { homeOf } from '../tools/git/write/commit.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';

/** What git knows of the files of a workspace. Paths are relative to it. */
interface Committed {
  git: Git;
  /** The file in the index and in the last commit; none where git does not know it. */
  versions(file: string): Promise<Buffer[]>;
  /** Those of the files that git knows. */
  known(files: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Reads a workspace's repository, where it is in one and git is there. Takes no lock and writes nothing. */
export const committedIn = async (root: string, env: Config['env']): Promise<Committed> => {
  const git = createGit({ env: cleanEnvironment(env) });
  const home = git.program === undefined ? undefined : await homeOf(git, root);
  if (home === undefined) return { git, ...NOTHING };
  const { repository, prefix } = home;
  const blob = async (name: string): Promise<Buffer[]> => {
    const args = ['cat-file', 'blob', name];
    const { code, stdout } = await git.at(repository).run(args, { read: true, ok: [0, 128] });
    return code === 0 ? [stdout] : [];
  };
  return {
    git,
    versions: async (file) => [
      ...(await blob(`:0:${prefix}${file}`)),
      ...(await blob(`HEAD:${prefix}${file}`)),
    ],
    known: async (files) => {
      if (files.length === 0) return new Set();
      const args = ['ls-files', '-z', '--', ...new Set(files.map((file) => prefix + file))];
      const { stdout } = await git.at(repository).run(args, { read: true, ok: [0, 128] });
      const names = stdout.toString('utf8').split('\0').filter(Boolean);
      return new Set(names.map((name) => name.slice(prefix.length)));
    },
  };
};

const NOTHING: Omit<Committed, 'git'> = {
  versions: async () => [],
  known: async () => new Set<string>(),
};
