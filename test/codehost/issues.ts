import {
  fullName,
  type Handler,
  mending,
  type Params,
  paged,
  passed,
  type Routes,
} from './handler.ts';
import { tooLong } from './limits.ts';
import { mendedPull } from './pulls.ts';
import { userOf } from './repositories.ts';
import {
  fieldsOf,
  type RestComment,
  type RestEvent,
  type RestIssue,
  type RestPull,
} from './rest.ts';
import { toldOf, type World } from './world.ts';

/** GitHub's lists of issues hold the pull requests too; the emulated host's do not. */
const issues: Handler = async (world, ask, params) => {
  const { query } = ask;
  const filters = new URLSearchParams(query);
  filters.delete('page');
  filters.delete('per_page');
  const base = `/repos/${fullName(params)}/issues?${filters}`;
  const first = await passed(world, { ...ask, query: new URLSearchParams({ per_page: '1' }) });
  if (first.status !== 200) return first;
  const found = await world.emulated.all<RestIssue>(base);
  const pulls = await pullsAs(world, params, query);
  return paged(world, ask, sorted([...found, ...pulls], query));
};

const pullsAs = async (
  world: World,
  params: Params,
  query: URLSearchParams,
): Promise<RestIssue[]> => {
  // A pull request of the emulated host has none, so that it is in no list that asks for them.
  if (query.has('milestone') || query.has('assignee')) return [];
  const state = query.get('state') ?? 'open';
  const path = `/repos/${fullName(params)}/pulls?state=${state}`;
  const pulls = await world.emulated.all<RestPull>(path);
  return pulls.filter((pull) => isWanted(pull, query)).map((pull) => issueOf(world, params, pull));
};

const isWanted = ({ labels, user, updated_at }: RestPull, query: URLSearchParams): boolean => {
  const wanted = query.get('labels')?.split(',') ?? [];
  return (
    wanted.every((name) => labels.some((label) => label.name === name)) &&
    (query.get('creator') ?? user?.login) === user?.login &&
    updated_at >= (query.get('since') ?? '')
  );
};

/** What a pull request looks like among the issues. */
export const issueOf = (world: World, params: Params, pull: RestPull): RestIssue => {
  const self = `${world.url}/repos/${fullName(params)}`;
  const of = `${self}/issues/${pull.number}`;
  const url = `${self}/pulls/${pull.number}`;
  const { html_url, merged_at, draft } = pull;
  const shared = Object.fromEntries(SHARED.map((key) => [key, pull[key]]));
  return {
    ...(shared as unknown as RestIssue),
    ...{ url: of, repository_url: self, labels_url: `${of}/labels{/name}` },
    ...{ comments_url: `${of}/comments`, events_url: `${of}/events` },
    ...{ active_lock_reason: null, closed_by: null, state_reason: null, draft },
    assignee: pull.assignees[0] ?? null,
    ...{ author_association: 'MEMBER', performed_via_github_app: null },
    pull_request: {
      ...{ url, html_url, merged_at },
      ...{ diff_url: `${html_url}.diff`, patch_url: `${html_url}.patch` },
    },
  };
};

const SHARED = [
  ...(['id', 'node_id', 'number', 'title', 'body', 'state', 'locked', 'user', 'labels'] as const),
  ...(['assignees', 'milestone', 'comments', 'created_at', 'updated_at', 'closed_at'] as const),
  'html_url',
] as const;

const sorted = (items: RestIssue[], query: URLSearchParams): RestIssue[] => {
  const by = query.get('sort') ?? 'created';
  const sign = query.get('direction') === 'asc' ? 1 : -1;
  const value = (each: RestIssue): string | number => {
    if (by === 'comments') return each.comments;
    return by === 'updated' ? each.updated_at : each.created_at;
  };
  return items.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === y) return sign * (a.number - b.number);
    return x < y ? -sign : sign;
  });
};

const issue: Handler = async (world, ask, params) => {
  const answer = await passed(world, ask);
  if (answer.status !== 404) return answer;
  const path = `/repos/${fullName(params)}/pulls/${params.issue_number}`;
  const pull = await passed(world, { ...ask, path });
  if (pull.status !== 200) return answer;
  const of = issueOf(world, params, await mendedPull(world, pull.body as RestPull));
  return { ...pull, body: { ...of, closed_by: null } };
};

/** What happened, the comments among it. */
const timeline: Handler = async (world, ask, params) => {
  const { issue_number: number } = params;
  const base = `/repos/${fullName(params)}/issues/${number}`;
  const events = await world.emulated.call('GET', `${base}/timeline`, { as: ask.login });
  const known = events.status === 200 ? (events.body as RestEvent[]) : [];
  const comments = await world.emulated.call('GET', `${base}/comments?per_page=100`);
  if (events.status !== 200 && comments.status !== 200) return events;
  const said = (comments.body as RestComment[]).map((each) => ({
    ...each,
    event: 'commented',
    actor: each.user,
  }));
  const told = await Promise.all(
    toldOf(world, fullName(params), Number(number)).map((each) => toldAs(world, each)),
  );
  const all = [...known.filter(({ event }) => event !== 'opened'), ...said, ...told];
  return paged(
    world,
    ask,
    all.toSorted((a, b) => a.created_at.localeCompare(b.created_at)),
  );
};

const toldAs = async (
  world: World,
  { event, actor, at, more }: World['told'][number],
): Promise<RestEvent> => ({
  id: Date.parse(at),
  node_id: `E_${Date.parse(at)}`,
  event,
  actor: await userOf(world, actor),
  created_at: at,
  ...more,
});

const comment: Handler = (world, ask) => tooLong(ask.body, 'IssueComment') ?? passed(world, ask);

/** GitHub ignores the case of labels; the emulated host would make another one. */
const label: Handler = async (world, ask, params) => {
  const known = await world.emulated.all<{ name: string }>(`/repos/${fullName(params)}/labels`);
  const wanted = fieldsOf(ask.body).labels as string[];
  const labels = wanted.map(
    (each) =>
      known.find(({ name }) => name.toLowerCase() === each.trim().toLowerCase())?.name ??
      each.trim(),
  );
  return passed(world, { ...ask, body: { labels } });
};

const search: Handler = mending<{ items: RestIssue[] }>((world, found) => ({
  ...found,
  search_type: 'lexical',
  items: found.items.map((each) => {
    const self = each.html_url.replace(`https://${world.host_name}`, `${world.url}/repos`);
    const urls = { events_url: `${self}/events`, labels_url: `${self}/labels{/name}` };
    return { ...urls, repository_url: self.replace(/\/[^/]+\/\d+$/, ''), ...each, score: 1 };
  }),
}));

export const issueRoutes: Routes = {
  'get /search/issues': search,
  'get /repos/{owner}/{repo}/issues': issues,
  'get /repos/{owner}/{repo}/issues/{issue_number}': issue,
  'get /repos/{owner}/{repo}/issues/{issue_number}/timeline': timeline,
  'post /repos/{owner}/{repo}/issues/{issue_number}/comments': comment,
  'patch /repos/{owner}/{repo}/issues/comments/{comment_id}': comment,
  'post /repos/{owner}/{repo}/issues/{issue_number}/labels': label,
};
