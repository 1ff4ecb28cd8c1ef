import { changePull, type StoredPull } from '../../../store/codehost/pulls.ts';
import { detected, type HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { getItem } from '../../code/projects/project.ts';
import { branchesOf } from '../../code/worktrees/inspect/merged.ts';
import {
  type HostedRepository,
  type Pull,
  type RepositoryName,
  repositoryNamed,
} from '../../codehost/code-host.ts';
import { hasErrorCode } from '../../codehost/github/problem.ts';
import { ServiceError } from '../../errors.ts';

/**
 * The hosted repository of a pull request, for writing to it. pr/pr.md may have come by a pull or from an agent, so it
 * does not decide where the operator's token writes. Throws 409 `pull_mismatch` where no remote of the project is that
 * repository; each write throws it where the pull request is not of the Work item's branch, and what `check` throws.
 */
export const hostedToWrite = async (
  service: HostedNeeds,
  kept: StoredPull,
  check?: (now: Pull) => void,
): Promise<HostedRepository> => {
  const { case_id, matter } = kept;
  const { project } = await getItem(service.store, case_id);
  const branches = branchesOf(service.store, case_id);
  const found = await detected(service, project, branches[0] ?? matter.head_ref);
  const bases = [found.base, ...found.candidates];
  const name = await currentName(service, kept, bases);
  const owners = [found.push, ...bases].map(({ owner }) => owner.toLowerCase());
  return service.codeHost().repository(name, (pull) => {
    if (!isOwn(pull, { branches, owners })) throw otherBranch(name, pull, branches);
    check?.(pull);
  });
};

/**
 * The repository of the record, else the remote that has its pull request under the same id: after a rename or transfer,
 * which is recorded. Throws 409 `pull_mismatch` where none has, and the host's refusal where one could not be read.
 */
const currentName = async (
  { store, codeHost }: HostedNeeds,
  { case_id, matter }: StoredPull,
  bases: readonly RepositoryName[],
): Promise<RepositoryName> => {
  const { host, number, node_id } = matter;
  const name = repositoryNamed(host, matter.repository);
  if (bases.some((each) => nameOf(each) === nameOf(name))) return name;
  const there = bases.filter((each) => node_id != null && each.host === name.host);
  let refused: ServiceError | undefined;
  for (const each of new Map(there.map((base) => [nameOf(base), base])).values()) {
    const found = await codeHost()
      .repository(each)
      .pull(number)
      .catch((error: unknown) => {
        if (hasErrorCode(error, 'codehost_not_found')) return;
        if (!hasErrorCode(error, 'codehost_forbidden', 'codehost_sso_required')) throw error;
        refused ??= error;
      });
    if (found?.node_id !== node_id) continue;
    await changePull(store, case_id, { changes: { repository: `${each.owner}/${each.name}` } });
    return each;
  }
  throw refused ?? otherRepository(name, bases);
};

interface Own {
  branches: readonly string[];
  /** In lower case. */
  owners: readonly string[];
}

// Without a worktree or a session, the repository alone has to do.
const isOwn = ({ head_ref, fork }: Pull, { branches, owners }: Own): boolean =>
  branches.length === 0 ||
  (branches.includes(head_ref) && (fork == null || owners.includes(fork.toLowerCase())));

const nameOf = ({ host, owner, name }: RepositoryName): string =>
  `${host}/${owner}/${name}`.toLowerCase();

const MEND =
  'Nothing was written. Correct pr/pr.md, or remove it and adopt the right pull request with POST …/pr/create.';

const otherRepository = (
  { host, owner, name }: RepositoryName,
  bases: readonly RepositoryName[],
): ServiceError =>
  new ServiceError(
    'pull_mismatch',
    `pr/pr.md names the repository ${host}/${owner}/${name}, but the remotes of the project point to ${[...new Set(bases.map(nameOf))].join(', ')}. ${MEND}`,
  );

const otherBranch = (
  { owner, name }: RepositoryName,
  { number, fork, head_ref }: Pull,
  branches: readonly string[],
): ServiceError =>
  new ServiceError(
    'pull_mismatch',
    `${owner}/${name}#${number} is for the branch ${fork == null ? '' : `${fork || 'a deleted fork'}:`}${head_ref}, but the branch of the Work item is ${[...new Set(branches)].join(', ')}. ${MEND}`,
  );
