import { commitOf } from '../handler.ts';
import { mendedPull } from '../pulls.ts';
import { userOf } from '../repositories.ts';
import type { RestIssue, RestLabel, RestMilestone, RestPull, RestRepository } from '../rest.ts';
import { permissionsOf } from '../world.ts';
import { connection, hostError, type Window } from './connection.ts';
import { issueAt } from './issue.ts';
import { labelNode, milestoneNode, userNode } from './people.ts';
import { pullAt } from './pull.ts';
import type { Node, Scope } from './scope.ts';

/** The repository of this scope; null with GitHub's error when there is none, or none that this person may see. */
export const repositoryNode = async (scope: Scope): Promise<Node> => {
  const { world, login, name } = scope;
  const answer = await world.emulated.call('GET', `/repos/${name}`);
  const repository = answer.body as RestRepository;
  const role = world.roles.get(login) ?? 'read';
  if (answer.status !== 200 || (repository.private && role === 'none')) {
    throw hostError('NOT_FOUND', `Could not resolve to a Repository with the name '${name}'.`);
  }
  return {
    ...fieldsOf(repository),
    ...listsOf(scope),
    viewerPermission: role === 'none' ? null : role.toUpperCase(),
    viewerCanAdminister: role === 'admin',
    viewerDefaultMergeMethod: 'MERGE',
    issue: ({ number }: { number: number }) => issueAt(scope, number),
    pullRequest: ({ number }: { number: number }) => pullAt(scope, number),
    issueOrPullRequest: ({ number }: { number: number }) =>
      issueAt(scope, number).catch(() => pullAt(scope, number)),
    ref: ({ qualifiedName }: { qualifiedName: string }) => refNode(scope, qualifiedName),
    defaultBranchRef: () => refNode(scope, `refs/heads/${repository.default_branch}`),
  };
};

const fieldsOf = (repository: RestRepository): Node => ({
  __typename: 'Repository',
  id: repository.node_id,
  databaseId: repository.id,
  name: repository.name,
  nameWithOwner: repository.full_name,
  owner: userNode(repository.owner),
  url: repository.html_url,
  description: repository.description,
  isPrivate: repository.private,
  isArchived: repository.archived,
  isFork: repository.fork,
  isDisabled: false,
  visibility: repository.private ? 'PRIVATE' : 'PUBLIC',
  parent: null,
  hasIssuesEnabled: true,
  hasProjectsEnabled: true,
  mergeCommitAllowed: true,
  rebaseMergeAllowed: true,
  squashMergeAllowed: true,
  createdAt: repository.created_at,
  updatedAt: repository.updated_at,
});

interface ListArguments extends Window {
  states?: string[] | null;
  labels?: string[] | null;
  headRefName?: string | null;
  baseRefName?: string | null;
  orderBy?: { field: string; direction: string } | null;
  filterBy?: { since?: string | null; labels?: string[] | null; states?: string[] | null } | null;
}

const listsOf = (scope: Scope) => {
  const { world, name } = scope;
  const read = <T>(path: string): Promise<T[]> => world.emulated.all<T>(`/repos/${name}/${path}`);
  return {
    issues: (window: ListArguments) =>
      connection('issues', async () => (await issuesOf(scope, window)).map(scope.issue))(window),
    pullRequests: (window: ListArguments) =>
      connection('pullRequests', async () => (await pullsOf(scope, window)).map(scope.pull))(
        window,
      ),
    labels: connection('labels', async () => (await read<RestLabel>('labels')).map(labelNode)),
    milestones: connection('milestones', async () =>
      (await read<RestMilestone>('milestones')).map(milestoneNode),
    ),
    assignableUsers: connection('assignableUsers', async () => {
      const able = world.people.filter((login) => mayTriage(scope, login));
      return (await Promise.all(able.map((login) => userOf(world, login)))).map(userNode);
    }),
  };
};

const mayTriage = ({ world }: Scope, login: string): boolean =>
  permissionsOf(world.roles.get(login) ?? 'none').triage === true;

const issuesOf = async (scope: Scope, given: ListArguments): Promise<RestIssue[]> => {
  const { world, name } = scope;
  const states = given.states ?? given.filterBy?.states;
  const labels = given.labels ?? given.filterBy?.labels;
  const since = given.filterBy?.since;
  const all = await world.emulated.all<RestIssue>(`/repos/${name}/issues?state=all`);
  return ordered(all, given)
    .filter(({ state }) => !states || states.includes(state.toUpperCase()))
    .filter((issue) => !labels || issue.labels.some((label) => labels.includes(label.name)))
    .filter(({ updated_at }) => !since || updated_at >= since);
};

const pullsOf = async (scope: Scope, given: ListArguments): Promise<RestPull[]> => {
  const { world, name } = scope;
  const { states, headRefName, baseRefName } = given;
  const stateOf = (pull: RestPull): string => (pull.merged ? 'MERGED' : pull.state.toUpperCase());
  const all = await world.emulated.all<RestPull>(`/repos/${name}/pulls?state=all`);
  const wanted = ordered(all, given)
    .filter((pull) => !states || states.includes(stateOf(pull)))
    .filter((pull) => !headRefName || pull.head.ref === headRefName)
    .filter((pull) => !baseRefName || pull.base.ref === baseRefName);
  return Promise.all(wanted.map((pull) => mendedPull(world, pull)));
};

/** Oldest first, if nothing is asked. */
const ordered = <T extends RestIssue>(items: readonly T[], { orderBy }: ListArguments): T[] => {
  const key = orderBy?.field === 'UPDATED_AT' ? 'updated_at' : 'created_at';
  const sign = orderBy?.direction === 'DESC' ? -1 : 1;
  return items.toSorted((a, b) => sign * (a[key].localeCompare(b[key]) || a.number - b.number));
};

const refNode = async ({ world, name }: Scope, ref: string): Promise<Node | null> => {
  const full = ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
  const oid = await commitOf(world, name, full);
  if (oid === undefined) return null;
  const short = full.replace(/^refs\/heads\//, '');
  const target = { __typename: 'Commit', id: `C_${oid}`, oid };
  return { __typename: 'Ref', id: `REF_${short}`, name: short, prefix: 'refs/heads/', target };
};
