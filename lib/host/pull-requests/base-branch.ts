import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import { hostedRepositoryNamed } from '../../code/projects/hosted.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import { remoteRefs } from '../../tools/git/remote/remote.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { Where } from './where.ts';

interface Bases {
  /** What a worktree's work is proposed for, unless somebody says otherwise. */
  base: string;
  /** The default branch of the repository on the host. */
  main: string;
}

/**
 * Where the work of a worktree belongs: what it began from, where the repository on the host has a branch of that name;
 * else its default branch.
 */
export const basesOf = async (
  service: WithCodeHost & WithGit,
  worktree: WorktreeRecord,
  { base, push }: Where,
): Promise<Bases> => {
  const { default_branch: main } = await hostedRepositoryNamed(service.codeHost, base).meta();
  const remote = base.remote ?? push.remote;
  const name = worktree.base.replace(`${remote}/`, '').replace(`${push.remote}/`, '');
  if (name === main || name === worktree.branch) return { base: main, main };
  const ref = `refs/heads/${name}`;
  const login = { place: worktree, remote, host: base.host, direction: 'fetch' } as const;
  const refs = await withLogin(service, login, (asked) =>
    remoteRefs(service.git, worktree, { remote: asked }, [ref]),
  );
  return { base: refs.has(ref) ? name : main, main };
};
