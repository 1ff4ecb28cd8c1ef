import type { StoredPull } from '../../../store/pulls/pulls.ts';
import type { WithStore } from '../../../store/store.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import type { HostedNeeds } from '../../code/projects/hosted.ts';
import { getItem } from '../../code/projects/item.ts';
import { repositoryFor } from '../../code/projects/repository.ts';
import { stateOf } from '../../code/worktrees/look/state.ts';
import { findWorktree } from '../../code/worktrees/read.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { pushRemote, remoteRefs } from '../../tools/git/remote/remote.ts';
import type { Checkout, WithGit } from '../../tools/git/run/git.ts';
import { warningOf } from './record.ts';

/** What the branch of a pull request is on its remote; why nobody could tell, where nobody could. */
export type RemoteHead = { commit: string | null } | { unknown: string };

/** Asks git, not the code host: right after a push that one may still tell of the commit before. Never throws for what it is told. */
export const remoteHead = async (service: HostedNeeds, kept: StoredPull): Promise<RemoteHead> => {
  const { case_id, matter } = kept;
  try {
    const place = await checkoutFor(service, case_id);
    const remote = matter.remote ?? (await pushRemote(service.git.at(place), matter.head_ref));
    if (remote === undefined) return { unknown: 'The repository has no remote to ask.' };
    const ref = `refs/heads/${matter.head_ref}`;
    const login = { place, remote, host: matter.host, direction: 'push' } as const;
    const refs = await withLogin(service, login, (asked) =>
      remoteRefs(service.git.at(place), { remote: asked }, [ref]),
    );
    return { commit: refs.get(ref) ?? null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { unknown: warningOf('The branch on the remote could not be looked at', error) };
  }
};

/** Where the settings of the remotes are: the worktree as it was made, or the project's repository once that is gone. */
const checkoutFor = async (
  service: WithConfig & WithGit & WithStore,
  caseId: string,
): Promise<Checkout> => {
  const worktree = findWorktree(service.store, caseId);
  if (worktree !== undefined && (await stateOf(worktree)) === 'ok') return worktree;
  const { project } = await getItem(service.store, caseId);
  return repositoryFor(service, project);
};
