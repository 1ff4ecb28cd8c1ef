import { commitBodyOf } from './commits.ts';
import {
  commitOf,
  fullName,
  gitOf,
  type Handler,
  mending,
  type Params,
  paged,
  passed,
  type Routes,
} from './handler.ts';
import { type Answer, json, notFound, type RestRepository, type RestUser } from './rest.ts';
import { nowOf, permissionsOf, type Role, type World } from './world.ts';

const user: Handler = (_world, ask) => passed(_world, ask);

const repository: Handler = async (world, ask) => {
  const answer = await passed(world, ask);
  if (answer.status !== 200) return answer;
  const role = world.roles.get(ask.login) ?? 'read';
  const body = answer.body as RestRepository;
  const counts = { network_count: 0, subscribers_count: 1 };
  const source = world.forks.get(body.full_name);
  const parent = source && (await world.emulated.read('GET', `/repos/${nowOf(world, source)}`));
  const family = parent === undefined ? {} : { parent, source: parent };
  return { ...answer, body: { ...body, ...counts, ...family, permissions: permissionsOf(role) } };
};

const assignable = async (world: World): Promise<RestUser[]> => {
  const able = world.people.filter((login) => mayBeAssigned(world.roles.get(login)));
  return Promise.all(able.map((login) => userOf(world, login)));
};

const mayBeAssigned = (role: Role | undefined): boolean =>
  role !== undefined && permissionsOf(role).triage === true;

/** A person in short, as other records name them. */
export const userOf = async (world: World, login: string): Promise<RestUser> => {
  const full = await world.emulated.read<RestUser & Record<string, unknown>>(
    'GET',
    `/users/${login}`,
  );
  return Object.fromEntries(
    Object.entries(full).filter(([name]) => SIMPLE.has(name)),
  ) as unknown as RestUser;
};

const SIMPLE = new Set([
  ...['login', 'id', 'node_id', 'avatar_url', 'gravatar_id', 'url', 'html_url', 'followers_url'],
  ...['following_url', 'gists_url', 'starred_url', 'subscriptions_url', 'organizations_url'],
  ...['repos_url', 'events_url', 'received_events_url', 'type', 'site_admin', 'user_view_type'],
]);

const assignees: Handler = async (world, ask) => paged(world, ask, await assignable(world));

const assignee: Handler = async (world, _ask, params) => {
  const known = await assignable(world);
  const found = known.some(({ login }) => login === params.assignee);
  return found ? { status: 204, headers: {} } : notFound();
};

const WORDS: Record<Role, string> = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
};

const permission: Handler = async (world, _ask, { username = '' }) => {
  if (!world.people.includes(username)) return notFound();
  const role = world.roles.get(username) ?? 'read';
  const person = await userOf(world, username);
  const named = { ...person, permissions: permissionsOf(role), role_name: role };
  return json({ permission: WORDS[role], role_name: role, user: named });
};

const branches: Handler = async (world, ask, params) => {
  const git = gitOf(world, fullName(params));
  if (git === undefined) return notFound();
  const refs = await git(
    'for-each-ref',
    '--format=%(objectname) %(refname:lstrip=2)',
    'refs/heads',
  );
  const lines = refs.split('\n').filter(Boolean);
  return paged(
    world,
    ask,
    lines.map((line) => {
      const [sha = '', name] = line.split(/ (.*)/s);
      const url = `${world.url}/repos/${fullName(params)}/commits/${sha}`;
      return { name, commit: { sha, url }, protected: false };
    }),
  );
};

const branch: Handler = async (world, _ask, params) => {
  const name = params.branch ?? '';
  const sha = await commitOf(world, fullName(params), `refs/heads/${name}`);
  if (sha === undefined) return notFound();
  return json(await branchBody(world, params, { name, sha }));
};

const branchBody = async (
  world: World,
  params: Params,
  { name, sha }: { name: string; sha: string },
): Promise<unknown> => {
  const self = `${world.url}/repos/${fullName(params)}/branches/${name}`;
  const html = `https://${world.host_name}/${fullName(params)}/tree/${name}`;
  return {
    name,
    commit: await commitBodyOf(world, fullName(params), sha),
    _links: { html, self },
    protected: false,
    protection: { enabled: false },
    protection_url: `${self}/protection`,
  };
};

const rateLimit: Handler = ({ rate }): Answer => {
  const core = { ...rate, used: rate.limit - rate.remaining };
  const search = { limit: 30, remaining: 30, reset: rate.reset, used: 0 };
  return json({ resources: { core, search, graphql: core }, rate: core });
};

export const repositoryRoutes: Routes = {
  'get /user': user,
  'get /rate_limit': rateLimit,
  'get /repos/{owner}/{repo}': repository,
  'get /repos/{owner}/{repo}/assignees': assignees,
  'get /repos/{owner}/{repo}/assignees/{assignee}': assignee,
  'get /repos/{owner}/{repo}/collaborators': mending<RestUser[]>((world, people) =>
    people.map((each) => {
      const role = world.roles.get(each.login) ?? 'read';
      return { ...each, permissions: permissionsOf(role), role_name: role };
    }),
  ),
  'get /repos/{owner}/{repo}/collaborators/{username}/permission': permission,
  'get /repos/{owner}/{repo}/branches': branches,
  'get /repos/{owner}/{repo}/branches/{branch}': branch,
};
