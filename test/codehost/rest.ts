/** What of GitHub's REST answers the fake reads, and how one request and its answer are passed on. */

export interface RestUser {
  id: number;
  node_id: string;
  login: string;
  avatar_url: string;
  html_url: string;
  type: string;
  name?: string | null;
}

export interface RestRepository {
  id: number;
  node_id: string;
  name: string;
  full_name: string;
  private: boolean;
  archived: boolean;
  fork: boolean;
  owner: RestUser;
  html_url: string;
  default_branch: string;
  description: string | null;
  created_at: string;
  updated_at: string;
  clone_url: string;
}

export interface RestLabel {
  id: number;
  node_id: string;
  name: string;
  color: string;
  description: string | null;
  default: boolean;
  url: string;
}

export interface RestMilestone {
  id: number;
  node_id: string;
  number: number;
  title: string;
  state: string;
  description: string | null;
  due_on: string | null;
  html_url: string;
}

export interface RestIssue {
  id: number;
  node_id: string;
  number: number;
  title: string;
  body: string | null;
  state: string;
  state_reason: string | null;
  locked: boolean;
  user: RestUser | null;
  labels: RestLabel[];
  assignee?: RestUser | null;
  assignees: RestUser[];
  milestone: RestMilestone | null;
  comments: number;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
  html_url: string;
  pull_request?: unknown;
}

export interface RestSide {
  label: string;
  ref: string;
  sha: string;
  user: RestUser | null;
  repo: RestRepository | null;
}

export interface RestPull extends RestIssue {
  draft: boolean;
  merged: boolean;
  merged_at: string | null;
  merged_by: RestUser | null;
  merge_commit_sha: string | null;
  mergeable: boolean | null;
  mergeable_state: string;
  head: RestSide;
  base: RestSide;
  requested_reviewers: RestUser[];
  review_comments: number;
  additions: number;
  deletions: number;
  changed_files: number;
  commits: number;
}

/** A comment on an issue or a pull request, or on a line of one. */
export interface RestComment {
  id: number;
  node_id: string;
  body: string;
  user: RestUser | null;
  created_at: string;
  updated_at: string;
  html_url: string;
  author_association: string;
  path?: string;
  position?: number | null;
  line?: number | null;
  start_line?: number | null;
  diff_hunk?: string;
  commit_id?: string;
  in_reply_to_id?: number | null;
  pull_request_review_id?: number | null;
}

export interface RestReview {
  id: number;
  node_id: string;
  body: string;
  state: string;
  user: RestUser | null;
  html_url: string;
  submitted_at: string | null;
  commit_id: string;
  author_association: string;
}

export interface RestEvent {
  id: number;
  node_id: string;
  event: string;
  actor: RestUser | null;
  created_at: string;
}

export interface RestCheckRun {
  id: number;
  node_id: string;
  name: string;
  head_sha: string;
  status: string;
  conclusion: string | null;
  started_at: string | null;
  completed_at: string | null;
  html_url: string;
  details_url: string | null;
  output: Record<string, unknown>;
}

/** A request as GitHub's own routes see it: without the prefix of an Enterprise server. */
export interface Ask {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  /** Who asks. */
  login: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** JSON, or the text itself; nothing where there is no body. */
  body?: unknown;
}

export const json = (body: unknown, status = 200, headers: Answer['headers'] = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body,
});

const DOCUMENTATION = 'https://docs.github.com/rest';

/** An error as GitHub words it; `errors` with a 422. */
export const refused = (status: number, message: string, errors?: unknown[]): Answer =>
  json(
    {
      message,
      ...(errors === undefined ? {} : { errors }),
      documentation_url: DOCUMENTATION,
      status: String(status),
    },
    status,
  );

export const notFound = (): Answer => refused(404, 'Not Found');

/** An object's fields, whatever came. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? { ...value } : {};
