import type { Issue } from '../../../store/records/code-host.ts';
import type { Pull, PullState } from '../code-host.ts';

type Same = 'number' | 'node_id' | 'title' | 'comments' | 'created_at' | 'updated_at' | 'closed_at';

/** The fields of a REST issue that are used. */
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

// GraphQL uses upper case.
const stateOf = (state: string): Issue['state'] =>
  state.toLowerCase() === 'closed' ? 'closed' : 'open';

type Nested = 'labels' | 'assignees' | 'milestone' | 'author' | 'comments' | 'state';

/** An issue of GraphQL, by the fragment OneIssue. */
export interface GraphqlIssue extends Omit<Issue, Nested> {
  state: string;
  labels: Nodes<{ name: string }> | null;
  assignees: Nodes<{ login: string }>;
  milestone: { title: string } | null;
  author: { login: string } | null;
  comments: { totalCount: number };
}

/** A GraphQL list; items that the token may not read are null. */
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

/** The state of a pull request from GraphQL or REST fields. */
export const stateFrom = (state: string, draft: boolean): PullState => {
  const lower = state.toLowerCase();
  if (lower === 'merged' || lower === 'closed') return lower;
  return draft ? 'draft' : 'open';
};

type Judged =
  | ('state' | 'fork' | 'mergeable' | 'review_decision')
  | ('checks' | 'author' | 'labels' | 'merge_commit');

/** A pull request of GraphQL, by the fragment OnePull. */
export interface GraphqlPull extends Omit<Pull, Judged> {
  state: string;
  isDraft: boolean;
  isCrossRepository: boolean;
  headRepositoryOwner: { login: string } | null;
  mergeable: string;
  reviewDecision: string | null;
  mergeCommit: { oid: string } | null;
  author: { login: string } | null;
  labels: Nodes<{ name: string }> | null;
  commits: Nodes<{ commit: CheckedCommit }> & { totalCount: number };
}

/** A commit with the state of all its checks together. */
export interface CheckedCommit {
  oid: string;
  statusCheckRollup: { state: string } | null;
}

export const pullFromGraphql = (answer: GraphqlPull): Pull => {
  const { isDraft, reviewDecision, commits, mergeCommit, ...more } = answer;
  const { isCrossRepository, headRepositoryOwner, ...pull } = more;
  return {
    ...pull,
    state: stateFrom(pull.state, isDraft),
    fork: isCrossRepository ? (headRepositoryOwner?.login ?? '') : null,
    author: pull.author?.login ?? null,
    labels: nodesOf(pull.labels).map(({ name }) => name),
    mergeable: MERGEABLE[pull.mergeable] ?? null,
    review_decision: DECISIONS[reviewDecision ?? ''] ?? null,
    checks: checksOf(pull.head_sha, commits),
    merge_commit: mergeCommit?.oid ?? null,
  };
};

const MERGEABLE: Record<string, boolean> = { MERGEABLE: true, CONFLICTING: false };

const DECISIONS: Record<string, Pull['review_decision']> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  REVIEW_REQUIRED: 'review_required',
};

const CHECKS: Record<string, Pull['checks']> = {
  SUCCESS: 'success',
  FAILURE: 'failure',
  ERROR: 'failure',
};

// Expected and unknown states count as pending, and so does every state of a commit that is not the head.
const checksOf = (head: string, commits: GraphqlPull['commits']): Pull['checks'] => {
  const { oid, statusCheckRollup: rollup } = nodesOf(commits)[0]?.commit ?? { oid: head };
  if (oid !== head) return 'pending';
  return rollup ? (CHECKS[rollup.state] ?? 'pending') : null;
};

type Times = 'created_at' | 'updated_at' | 'merged_at' | 'closed_at';

/** The fields of a REST pull request that are used. */
interface RestPull extends Pick<Pull, 'number' | 'node_id' | 'title' | Times> {
  html_url: string;
  body: string | null;
  state: string;
  draft?: boolean;
  user: { login: string } | null;
  labels: { name: string }[];
  head: { ref: string; sha: string };
  base: { ref: string };
  merge_commit_sha?: string | null;
}

/** A new pull request, without checks and reviews. */
export const newPullFromRest = (pull: RestPull): Pull => ({
  number: pull.number,
  node_id: pull.node_id,
  url: pull.html_url,
  title: pull.title,
  body: pull.body ?? '',
  state: stateFrom(pull.merged_at === null ? pull.state : 'merged', pull.draft === true),
  author: pull.user?.login ?? null,
  labels: pull.labels.map(({ name }) => name),
  head_ref: pull.head.ref,
  head_sha: pull.head.sha,
  base_ref: pull.base.ref,
  mergeable: null,
  review_decision: null,
  checks: null,
  created_at: pull.created_at,
  updated_at: pull.updated_at,
  merged_at: pull.merged_at,
  closed_at: pull.closed_at,
  // Before the merge it is a commit that the host made to try it.
  merge_commit: pull.merged_at === null ? null : (pull.merge_commit_sha ?? null),
});
