import type {
  HostUser,
  Label,
  Milestone,
  Permissions,
  RepositoryMeta,
  Validation,
} from '../../../store/records/code-host.ts';
import { scopesIn } from './account.ts';
import { apiPath, fullNameOf, hostClient, isSameName, type RepositoryContext } from './client.ts';
import type { Headers } from './failure.ts';
import { listOf } from './pages.ts';
import { hasErrorCode } from './problem.ts';
import { tokenMissing } from './refusals.ts';

/** Whether the repository is accessible; a public one is without a token. Inaccessibility is a result, not an error. */
export const validate = async (place: RepositoryContext): Promise<Validation> => {
  const { host } = place.name;
  const anonymous = (await place.context.tokens.of(host)) === undefined;
  try {
    const { data } = await read(place, true);
    const asked = fullNameOf(place.name);
    return {
      accessible: true,
      anonymous,
      renamed_to: isSameName(data.full_name, asked) ? null : data.full_name,
      archived: data.archived,
      fork: data.fork,
      parent: data.parent?.full_name ?? null,
    };
  } catch (error) {
    if (!hasErrorCode(error, ...HIDDEN)) throw error;
    if (anonymous) throw tokenMissing(host);
    return { accessible: false, anonymous, reason: error.message, ...UNKNOWN };
  }
};

const HIDDEN = [
  'codehost_not_found',
  'codehost_forbidden',
  'codehost_sso_required',
  'codehost_gone',
] as const;

const UNKNOWN = { renamed_to: null, archived: null, fork: null, parent: null };

const read = async (place: RepositoryContext, anonymous = false) => {
  const { api } = await hostClient(place);
  const request = { anonymous };
  return api.request('GET /repos/{owner}/{repo}', { ...apiPath(place), request });
};

type Read = Awaited<ReturnType<typeof read>>;
type Granted = NonNullable<Read['data']['permissions']>;
type Can = 'yes' | 'no' | 'unknown';

/** The user's role and capabilities in the repository, limited by the token's scopes if they are known. */
export const permissions = async (place: RepositoryContext): Promise<Permissions> => {
  try {
    const { data, headers } = await read(place);
    return permitted(data, scopesIn(headers as Headers));
  } catch (error) {
    if (!hasErrorCode(error, 'codehost_sso_required')) throw error;
    const { sso_url } = error.members;
    return { role: null, capabilities: NONE, ...(typeof sso_url === 'string' && { sso_url }) };
  }
};

const NONE: Permissions['capabilities'] = {
  read: 'no',
  open_pull_requests: 'no',
  push: 'no',
  triage_issues: 'no',
  resolve_threads: 'no',
};

const ROLES: readonly (readonly [right: keyof Granted, role: string])[] = [
  ['admin', 'admin'],
  ['maintain', 'maintain'],
  ['push', 'write'],
  ['triage', 'triage'],
  ['pull', 'read'],
];

/** The response's `permissions` are the user's. A classic token lists its scopes; a fine-grained one does not. */
export const permitted = (
  { permissions: granted, private: hidden }: Pick<Read['data'], 'permissions' | 'private'>,
  scopes: readonly string[] | null,
): Permissions => {
  const by = tokenCan(scopes, hidden);
  const may = (right: keyof Granted): Can => {
    if (granted === undefined) return 'unknown';
    return granted[right] === true ? by : 'no';
  };
  return {
    role: ROLES.find(([right]) => granted?.[right] === true)?.[1] ?? null,
    capabilities: {
      read: 'yes',
      open_pull_requests: may('pull'),
      push: may('push'),
      triage_issues: may('triage'),
      resolve_threads: may('push'),
    },
  };
};

const tokenCan = (scopes: readonly string[] | null, hidden: boolean): Can => {
  if (scopes === null) return 'unknown';
  return scopes.includes('repo') || (!hidden && scopes.includes('public_repo')) ? 'yes' : 'no';
};

export const meta = async (place: RepositoryContext): Promise<RepositoryMeta> => {
  const { data } = await read(place);
  return {
    name: data.name,
    full_name: data.full_name,
    default_branch: data.default_branch,
    visibility: data.visibility ?? (data.private ? 'private' : 'public'),
    description: data.description,
    url: data.html_url,
    archived: data.archived,
    fork: data.fork,
    parent: data.parent?.full_name ?? null,
  };
};

export const labels = async (place: RepositoryContext): Promise<Label[]> => {
  const all = await listOf(place, 'GET /repos/{owner}/{repo}/labels');
  return all.map(({ name, color, description }) => ({ name, color, description }));
};

/** All milestones, open and closed. */
export const listMilestones = async (place: RepositoryContext): Promise<Milestone[]> => {
  const all = await listOf(place, 'GET /repos/{owner}/{repo}/milestones', { state: 'all' });
  return all.map(({ number, title, state, due_on, description }) => ({
    number,
    title,
    due_on,
    description,
    state: state === 'closed' ? 'closed' : 'open',
  }));
};

/** The users an issue can be assigned to. GitHub returns no display names here. */
export const assignees = async (place: RepositoryContext): Promise<HostUser[]> => {
  const all = await listOf(place, 'GET /repos/{owner}/{repo}/assignees');
  return all.map(({ login, html_url: url }) => ({ login, name: null, url }));
};
