import type { Issue } from '../../../store/records/code-host.ts';

type Same = 'number' | 'node_id' | 'title' | 'comments' | 'created_at' | 'updated_at' | 'closed_at';

/** An issue as REST answers it, as far as it is read. */
export interface RestIssue extends Pick<Issue, Same> {
  html_url: string;
  repository_url: string;
  body?: string | null;
  state: string;
  state_reason?: string | null;
  labels: (string | { name?: string })[];
  assignees?: { login: string }[] | null;
  milestone: { title: string } | null;
  user: { login: string } | null;
}

export const issueFromRest = (issue: RestIssue): Issue => ({
  number: issue.number,
  node_id: issue.node_id,
  url: issue.html_url,
  title: issue.title,
  body: issue.body ?? '',
  state: stateOf(issue.state),
  state_reason: issue.state_reason ?? null,
  labels: issue.labels.map(labelName).filter((name) => name !== ''),
  assignees: (issue.assignees ?? []).map(({ login }) => login),
  milestone: issue.milestone?.title ?? null,
  author: issue.user?.login ?? null,
  comments: issue.comments,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  closed_at: issue.closed_at,
});

const labelName = (label: RestIssue['labels'][number]): string =>
  typeof label === 'string' ? label : (label.name ?? '');

// GraphQL shouts what REST says.
const stateOf = (state: string): Issue['state'] =>
  state.toLowerCase() === 'closed' ? 'closed' : 'open';

type Nested = 'labels' | 'assignees' | 'milestone' | 'author' | 'comments' | 'state';

/** The same as GraphQL answers it: by the fragment OneIssue. */
export interface GraphqlIssue extends Omit<Issue, Nested> {
  state: string;
  labels: Nodes<{ name: string }> | null;
  assignees: Nodes<{ login: string }>;
  milestone: { title: string } | null;
  author: { login: string } | null;
  comments: { totalCount: number };
}

/** A list of GraphQL's: what may not be seen is null in it. */
export interface Nodes<T> {
  nodes: readonly (T | null)[] | null;
}

export const nodesOf = <T>(list: Nodes<T> | null | undefined): T[] =>
  (list?.nodes ?? []).filter((node) => node !== null);

export const issueFromGraphql = (issue: GraphqlIssue): Issue => ({
  ...issue,
  state: stateOf(issue.state),
  state_reason: issue.state_reason?.toLowerCase() ?? null,
  labels: nodesOf(issue.labels).map(({ name }) => name),
  assignees: nodesOf(issue.assignees).map(({ login }) => login),
  milestone: issue.milestone?.title ?? null,
  author: issue.author?.login ?? null,
  comments: issue.comments.totalCount,
});
