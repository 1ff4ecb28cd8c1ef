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
 * A service that keeps repositories, issues and pull requests. GitHub is the one that is live; another is one more
 * implementation of this. Merging is a human's: no call here merges, closes, updates a branch or writes content, and none
 * may be added. Every call throws a ServiceError `codehost_…` that says what to do; nothing is ever an empty list because
 * it could not be read.
 */
export interface CodeHost {
  readonly kind: 'github';
  /** The program, and whether a token is taken. Never throws for what it tells. */
  availability(host: string): Promise<Availability>;
  authStatus(host: string): Promise<AuthStatus>;
  /** Reads the token again; starts no login. */
  authRefresh(host: string): Promise<AuthRefresh>;
  me(host: string): Promise<HostUser>;
  /** The login for git itself, for its own server alone: undefined without a token. */
  gitLogin(host: string): Promise<{ username: string; password: string } | undefined>;
  /** An image of an issue, from the host's own servers. */
  image(host: string, url: string): Promise<Buffer>;
  repository(name: RepositoryName): HostedRepository;
}

export interface RepositoryName {
  /** Such as `github.com`; with its port where it has one. */
  host: string;
  owner: string;
  name: string;
}

/** What can be asked of one repository, and the few things that can be done there. */
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
  /** Several at once; one that is not there any more, or was moved, says so. */
  issuesByNumber(numbers: readonly number[]): Promise<Map<number, Issue | MissingIssue>>;
  issueComments(number: number): Promise<IssueComment[]>;
  linkedPulls(number: number): Promise<LinkedPull[]>;

  /** The open pull request of a branch, of that owner. */
  findPull(head: { owner: string; branch: string }): Promise<Pull | undefined>;
  pull(number: number): Promise<Pull>;
  /** What has happened to it, oldest first, each with the host's own id. */
  pullEvents(number: number): Promise<PullEvent[]>;
  reviews(number: number): Promise<HostReview[]>;
  threads(number: number): Promise<ReviewThread[]>;
  /** What fails of a commit: only the newest run of each check counts. */
  failingChecks(commit: string): Promise<FailingChecks>;
  /** What a job said last where it failed. What keeps its log from being read is told in it, and no error. */
  jobLog(job: number): Promise<JobLog>;

  createPull(wanted: NewPull): Promise<Pull>;
  updatePull(number: number, change: { title?: string; body?: string }): Promise<Pull>;
  /** Gives a pull request these labels, in place of those it has. */
  setLabels(number: number, labels: readonly string[]): Promise<void>;
  /** Ends the draft, and confirms it. */
  markReady(number: number): Promise<Pull>;
  resolveThread(threadId: string): Promise<void>;
  /** One comment for a marker, which no reader sees: made, or, where it is there, brought up to date. */
  comment(
    number: number,
    comment: { marker: string; body: string },
  ): Promise<{ id: number; url: string; updated: boolean }>;
}

export type TokenSource = NonNullable<Availability['token_source']>;

export interface MissingIssue {
  missing: 'deleted' | 'moved';
  /** Where it is now. */
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
  head_sha: string;
  base_ref: string;
  /** Null: the host has not worked it out yet. */
  mergeable: boolean | null;
  review_decision: 'approved' | 'changes_requested' | 'review_required' | null;
  /** All checks and statuses of the head together; null: there are none. */
  checks: 'success' | 'failure' | 'pending' | null;
  created_at: string;
  updated_at: string;
  merged_at: string | null;
  closed_at: string | null;
}

export interface PullEvent {
  /** The host's own, the same whoever tells it. */
  id: string;
  kind: 'ready' | 'draft' | 'closed' | 'reopened' | 'merged' | 'head_pushed' | 'review' | 'renamed';
  actor: string | null;
  at: string;
  head_sha: string | null;
}

export interface HostReview {
  number: number;
  node_id: string;
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
  /** Null for one on the whole file, or on a line that is gone. */
  line: number | null;
  start_line: number | null;
  comments: ThreadComment[];
}

export interface ThreadComment {
  node_id: string;
  /** Of the review that it came with, as REST counts reviews. */
  review: number | null;
  author: string | null;
  body: string;
  url: string;
  created_at: string;
}

/** The code host, with the token of its own program or of the environment. Asks nobody until it is asked. */
export interface WithCodeHost {
  readonly codeHost: () => CodeHost;
}

export interface FailingChecks {
  checks: FailingCheck[];
  /** Why some of them are not known, each in a sentence: what the token may not read. */
  unread: string[];
}

export interface FailingCheck {
  /** As the host counts runs of checks; `status-` before it for what another service has told of a commit. */
  id: string;
  name: string;
  /** The host's word, such as `failure` or `timed_out`. */
  conclusion: string;
  /** Who checks. */
  app: string | null;
  /** What that says of it, its annotations too; empty where nothing. */
  said: string;
  url: string | null;
  at: string | null;
  /** Of the host's own runners: its log may be there. */
  job: number | null;
}

export interface JobLog {
  /** The first that failed. */
  step: { number: number; name: string } | null;
  /** The end of what the step said, everything in it to be seen; null where it could not be read. */
  end: string | null;
  /** Why it is null. */
  why: string | null;
}

/** A repository of a host by the name that both write it with, `owner/name`. */
export const repositoryNamed = (host: string, full_name: string): RepositoryName => {
  const [owner = '', name = ''] = full_name.split('/');
  return { host, owner, name };
};
