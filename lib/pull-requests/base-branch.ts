import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { withLogin } from '../codehost/git-login.ts';
import { hostedRepositoryNamed } from '../codehost/hosted.ts';
import type { Service } from '../service.ts';
import { remoteRefs } from '../tools/git/remote.ts';
import type { Where } from './where.ts';

/**
 * The branch that a worktree's work is proposed for: what it began from, where the repository on the host has a branch of
 * that name; else its default branch.
 */
export const baseBranch = async (
  service: Service,
  worktree: WorktreeRecord,
  { base, push }: Where,
): Promise<string> => {
  const remote = base.remote ?? push.remote;
  const name = worktree.base.replace(`${remote}/`, '').replace(`${push.remote}/`, '');
  const ref = `refs/heads/${name}`;
  const login = { place: worktree, remote, host: base.host, direction: 'fetch' } as const;
  const isThere = await withLogin(service, login, async (asked) =>
    (await remoteRefs(service.git, worktree, { remote: asked }, [ref])).has(ref),
  );
  if (isThere && name !== worktree.branch) return name;
  return (await hostedRepositoryNamed(service, base).meta()).default_branch;
};
