import type { RemoteRepository } from '../../../store/records/code-host.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { WithStore } from '../../../store/store.ts';
import { withLogin } from '../../code/projects/git-login.ts';
import { detected } from '../../code/projects/hosted-repository.ts';
import { getItem } from '../../code/projects/project.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { invalidState, ServiceError } from '../../errors.ts';
import { pushRemote, remoteCommit } from '../../tools/git/remote/remote.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

/** The base repository of a pull request and the one its branch is pushed to; they differ for a fork. */
export interface Where {
  base: RemoteRepository;
  push: { host: string; owner: string; remote: string };
}

/**
 * The repositories for a worktree's branch. `wanted` (`owner/name`) selects the base. Throws 409 `codehost_ambiguous`
 * where the base would be another owner's repository that was not named.
 */
export const pullTarget = async (
  service: WithConfig & WithGit & WithStore,
  worktree: WorktreeRecord,
  wanted?: string,
): Promise<Where> => {
  const { project } = await getItem(service.store, worktree.case_id);
  const found = await detected(service, project, worktree.branch);
  const { push } = found;
  // A repository that only the settings name is pushed to git's push remote.
  const remote = push.remote ?? (await pushRemote(service.git.at(worktree), worktree.branch));
  if (remote === undefined) {
    throw invalidState(
      'The repository has no remote to push to. Add one with git remote add, then try again.',
    );
  }
  const base = wanted === undefined ? found.base : named(wanted, [found.base, ...found.candidates]);
  if (wanted === undefined && found.ambiguous && nameOf(base) !== nameOf(push))
    throw ambiguous(base, push);
  return { base, push: { host: push.host, owner: push.owner, remote } };
};

const named = (wanted: string, candidates: readonly RemoteRepository[]): RemoteRepository => {
  const found = candidates.find((each) => nameOf(each) === wanted.toLowerCase());
  if (found !== undefined) return found;
  const names = [...new Set(candidates.map(({ owner, name }) => `${owner}/${name}`))].join(', ');
  throw invalidState(`No remote points to ${wanted}. Use one of ${names}, or add a remote for it.`);
};

const nameOf = ({ owner, name }: RemoteRepository): string => `${owner}/${name}`.toLowerCase();

const ambiguous = (base: RemoteRepository, push: RemoteRepository): ServiceError =>
  new ServiceError(
    'codehost_ambiguous',
    `The branch would be pushed to ${push.owner}/${push.name} and proposed to ${base.owner}/${base.name}. Confirm this with {"repository": "${base.owner}/${base.name}"}, name another one, or set codehost.repository in workspace.md.`,
    { members: { base: `${base.owner}/${base.name}`, push: `${push.owner}/${push.name}` } },
  );

interface Bases {
  /** The default base of a worktree's pull request. */
  base: string;
  /** The default branch of the repository on the host. */
  main: string;
}

/**
 * The base branch for a worktree: its own base, where the repository on the host has a branch of that name, else the
 * default branch.
 */
export const baseBranches = async (
  service: WithCodeHost & WithGit,
  worktree: WorktreeRecord,
  { base, push }: Where,
): Promise<Bases> => {
  const { default_branch: main } = await service.codeHost().repository(base).meta();
  const remote = base.remote ?? push.remote;
  const name = branchOfBase(worktree, { base, push });
  if (name === main || name === worktree.branch) return { base: main, main };
  const ref = `refs/heads/${name}`;
  const login = { place: worktree, remote, host: base.host, direction: 'fetch' } as const;
  const commit = await withLogin(service, login, (asked) =>
    remoteCommit(service.git.at(worktree), { remote: asked, ref }),
  );
  return { base: commit === null ? main : name, main };
};

/** The name that a worktree's base has on the host. */
export const branchOfBase = ({ base: name }: WorktreeRecord, { base, push }: Where): string =>
  name.replace(`${base.remote ?? push.remote}/`, '').replace(`${push.remote}/`, '');
