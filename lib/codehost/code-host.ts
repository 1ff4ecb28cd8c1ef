import type {
  AuthRefresh,
  AuthStatus,
  Availability,
  HostUser,
  Issue,
  IssueComment,
  IssueFilter,
  IssuePage,
  Label,
  LinkedPull,
  Milestone,
  Permissions,
  RepositoryMeta,
  Validation,
} from '../../store/records/code-host.ts';

/**
 * A service for repositories, issues and pull requests; GitHub is the only implementation. Merging stays with a human: no
 * call merges, closes, updates a branch or writes content, and none may be added. Every call throws a ServiceError
 * `codehost_…` that says what to do; a failed read never returns an empty list.
 */
export interface CodeHost {
  /** Whether gh is installed and a token is accepted. Never throws for these results. */
  availability(host: string): Promise<Availability>;
  authStatus(host: string): Promise<AuthStatus>;
  /** Reads the token again; does not start a login. */
  authRefresh(host: string): Promise<AuthRefresh>;
  me(host: string): Promise<HostUser>;
  /** The credentials for git on this host; undefined without a token. */
  gitLogin(host: string): Promise<{ username: string; password: string } | undefined>;
  /** Downloads an image of an issue, only from the host's own servers. */
  image(host: string, url: string): Promise<Buffer>;
  /**
   * The calls for a repository. `check` is given each pull request as the host has it, before a write to it, and throws
   * where that must not happen.
   */
  repository(name: RepositoryName, check?: (pull: Pull) => void): HostedRepository;
}

export interface RepositoryName {
  /** Such as `github.com`; includes the port if there is one. */
  host: string;
  owner: string;
  name: string;
}

/** The calls for one repository. */
export interface HostedRepository {
  readonly name: RepositoryName;
  validate(): Promise<Validation>;
  permissions(): Promise<Permissions>;
  meta(): Promise<RepositoryMeta>;
  labels(): Promise<Label[]>;
  milestones(): Promise<Milestone[]>;
  assignees(): Promise<HostUser[]>;

  countOpenIssues(): Promise<number>;
  issues(filter: IssueFilter): Promise<IssuePage>;
  issue(number: number): Promise<Issue>;
  /** Several issues at once; a deleted or moved one is a MissingIssue. */
  issuesByNumber(numbers: readonly number[]): Promise<Map<number, Issue | MissingIssue>>;
  issueComments(number: number): Promise<IssueComment[]>;
  linkedPulls(number: number): Promise<LinkedPull[]>;

  /** The open pull request of an owner's branch. */
  findPull(head: { owner: string; branch: string }): Promise<Pull | undefined>;
  pull(number: number): Promise<Pull>;
  /** The events of a pull request, oldest first, with the host's ids. */
  pullEvents(number: number): Promise<PullEvent[]>;
  reviews(number: number): Promise<HostReview[]>;
  threads(number: number): Promise<ReviewThread[]>;
  /** The failing checks of a commit, by the newest run of each check. */
  failingChecks(commit: string): Promise<FailingChecks>;
  /** The end of the log of a job's failed step. If the log cannot be read, `why` says so; no error is thrown. */
  jobLog(job: number): Promise<JobLog>;

  createPull(wanted: NewPull): Promise<Pull>;
  updatePull(number: number, change: { title?: string; body?: string }): Promise<Pull>;
  /** Replaces the labels of a pull request. */
  setLabels(number: number, labels: readonly string[]): Promise<void>;
  /** Marks a draft as ready for review, and verifies the result. */
  markReady(number: number): Promise<Pull>;
  /** Resolves a thread of the pull request. */
  resolveThread(number: number, threadId: string): Promise<void>;
  /** Creates or updates the one comment with a hidden marker. */
  comment(
    number: number,
    comment: { marker: string; body: string },
  ): Promise<{ id: number; url: string; updated: boolean }>;
}

export type TokenSource = NonNullable<Availability['token_source']>;

export interface MissingIssue {
  missing: 'deleted' | 'moved';
  /** Its new URL. */
  url?: string;
}

export interface NewPull {
  title: string;
  body: string;
  /** A branch of the repository, or `owner:branch` of a fork. */
  head: string;
  base: string;
  draft: boolean;
}

export type PullState = 'draft' | 'open' | 'closed' | 'merged';

export interface Pull {
  number: number;
  node_id: string;
  url: string;
  title: string;
  body: string;
  state: PullState;
  author: string | null;
  labels: string[];
  head_ref: string;
  /** The owner of the fork that has the head branch, empty once it is deleted; null if it is no fork. */
  fork?: string | null;
  head_sha: string;
  base_ref: string;
  /** Null: the host has not computed it yet. */
  mergeable: boolean | null;
  review_decision: 'approved' | 'changes_requested' | 'review_required' | null;
  /** All checks and statuses of the head combined; null if there are none. */
  checks: 'success' | 'failure' | 'pending' | null;
  created_at: string;
  updated_at: string;
  merged_at: string | null;
  closed_at: string | null;
}

export interface PullEvent {
  /** The host's id, the same by API and by webhook. */
  id: string;
  kind: 'ready' | 'draft' | 'closed' | 'reopened' | 'merged' | 'head_pushed' | 'review' | 'renamed';
  actor: string | null;
  at: string;
  head_sha: string | null;
}

export interface HostReview {
  number: number;
  author: string | null;
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending';
  body: string;
  url: string;
  commit: string | null;
  submitted_at: string | null;
}

export interface ReviewThread {
  node_id: string;
  resolved: boolean;
  outdated: boolean;
  path: string;
  /** Null for a thread on the whole file, or on a line that no longer exists. */
  line: number | null;
  start_line: number | null;
  comments: ThreadComment[];
}

export interface ThreadComment {
  author: string | null;
  body: string;
  url: string;
  created_at: string;
}

/** The code host, with the token of `gh` or of the environment. Makes no request before the first call. */
export interface WithCodeHost {
  readonly codeHost: () => CodeHost;
}

export interface FailingChecks {
  checks: FailingCheck[];
  /** Sentences that say which checks the token may not read. */
  unread: string[];
}

export interface FailingCheck {
  /** The id of the check run; with the prefix `status-` for a commit status. */
  id: string;
  name: string;
  /** The host's conclusion, such as `failure` or `timed_out`. */
  conclusion: string;
  /** The name of the app that checks. */
  app: string | null;
  /** The output of the check, annotations included; may be empty. */
  said: string;
  url: string | null;
  at: string | null;
  /** The job id, if the check ran on the host's runners and may have a log. */
  job: number | null;
}

export interface JobLog {
  /** The first failed step. */
  step: { number: number; name: string } | null;
  /** The end of the step's log with control characters made visible; null if it could not be read. */
  end: string | null;
  /** Why `end` is null. */
  why: string | null;
}

/** Parses a full name, `owner/name`. */
export const repositoryNamed = (host: string, full_name: string): RepositoryName => {
  const [owner = '', name = ''] = full_name.split('/');
  return { host, owner, name };
};
