import { type Static, Type } from 'typebox';
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
import { Oid, orNull } from '../../store/records/fields.ts';

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

interface PullChange {
  title?: string;
  body?: string;
}
export type PullRule = (now: Pull) => PullChange | undefined | Promise<PullChange | undefined>;

export type LabelRule = (now: readonly string[]) => readonly string[];

/** The labels that are not among the others. The host ignores the case of labels. */
export const labelsWithout = (labels: readonly string[], others: readonly string[]): string[] => {
  const left = new Set(others.map((label) => label.toLowerCase()));
  return labels.filter((label) => !left.has(label.toLowerCase()));
};

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
  /** The numbers of the same page: an issue of another form does not take the others with it. */
  issueNumbers(filter: IssueFilter): Promise<IssueNumbersPage>;
  issue(number: number): Promise<Issue>;
  /** Several issues at once; a deleted or moved one is a MissingIssue. */
  issuesByNumber(numbers: readonly number[]): Promise<Map<number, Issue | MissingIssue>>;
  issueComments(number: number): Promise<IssueComment[]>;
  linkedPulls(number: number): Promise<LinkedPull[]>;

  /** The open pull request of an owner's branch: one into `base` if there is one, else any. */
  findPull(head: { owner: string; branch: string; base?: string }): Promise<Pull | undefined>;
  pull(number: number): Promise<Pull>;
  /** The events of a pull request, oldest first, with the host's ids. */
  pullEvents(number: number): Promise<PullEvents>;
  /** A review of another form does not take the others with it; nor does a thread. */
  reviews(number: number): Promise<HostReviews>;
  threads(number: number): Promise<HostThreads>;
  /** The failing checks of a commit, by the newest run of each check. */
  failingChecks(commit: string): Promise<FailingChecks>;
  /** The end of the log of a job's failed step. If the log cannot be read, `why` says so; throws for a job of another form. */
  jobLog(job: number): Promise<JobLog>;

  createPull(wanted: NewPull): Promise<Pull>;
  /** Changes what the rule says of the pull request as it is now; undefined for nothing. It may throw to refuse. */
  updatePull(number: number, rule: PullRule): Promise<Pull>;
  /** Changes the labels of a pull request to what the rule makes of those that it has. Returns those of the host then. */
  setLabels(number: number, rule: LabelRule): Promise<string[]>;
  /** Marks a draft as ready for review, and verifies the result. */
  markReady(number: number): Promise<Pull>;
  /** Resolves a thread of the pull request. */
  resolveThread(number: number, threadId: string): Promise<void>;
  /** Creates or updates the one comment with a hidden marker. */
  comment(number: number, comment: MarkedComment): Promise<WrittenComment>;
  /** The comment with the marker, if it has this body: to verify a `comment` whose answer was lost. */
  findComment(
    number: number,
    comment: MarkedComment,
  ): Promise<Omit<WrittenComment, 'updated'> | undefined>;
}

export interface MarkedComment {
  marker: string;
  body: string;
}

interface WrittenComment {
  id: number;
  url: string;
  /** Whether it existed before. */
  updated: boolean;
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

// Schemas, as the answers of a host are checked against them.
const Text = Type.String();
const TextOrNull = orNull(Text);
const Time = Type.String({ format: 'date-time' });
const TimeOrNull = orNull(Time);
const Count = Type.Integer();
const SafeId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const IssueNumbersPage = Type.Object({
  numbers: Type.Array(Type.Integer({ minimum: 1 })),
  next_cursor: TextOrNull,
});
type IssueNumbersPage = Static<typeof IssueNumbersPage>;

const PullState = Type.Enum(['draft', 'open', 'closed', 'merged']);
export type PullState = Static<typeof PullState>;

export const Pull = Type.Object({
  ...{ number: Count, node_id: Text, url: Text, title: Text, body: Text, state: PullState },
  ...{ author: TextOrNull, labels: Type.Array(Text), head_ref: Text },
  /** The owner of the fork that has the head branch, empty once it is deleted; null if it is no fork. */
  fork: Type.Optional(TextOrNull),
  ...{ head_sha: Oid, base_ref: Text },
  /** Null: the host has not computed it yet. */
  mergeable: orNull(Type.Boolean()),
  review_decision: orNull(Type.Enum(['approved', 'changes_requested', 'review_required'])),
  /** All checks and statuses of the head combined; null if there are none. */
  checks: orNull(Type.Enum(['success', 'failure', 'pending'])),
  ...{ created_at: Time, updated_at: Time, merged_at: TimeOrNull, closed_at: TimeOrNull },
  /** The commit in the base branch that it was merged with. */
  merge_commit: orNull(Oid),
});
export type Pull = Static<typeof Pull>;

const Kind = Type.Enum([
  ...(['ready', 'draft', 'closed', 'reopened', 'merged', 'head_pushed', 'review'] as const),
  'renamed',
]);

export const PullEvent = Type.Object({
  /** The host's id, the same by API and by webhook. */
  id: Text,
  ...{ kind: Kind, actor: TextOrNull, at: Time, head_sha: orNull(Oid) },
});
export type PullEvent = Static<typeof PullEvent>;

// Which items cannot be used and why, each as a clause.
const Unread = Type.Array(Text);

export const PullEvents = Type.Object({ events: Type.Array(PullEvent), unread: Unread });
type PullEvents = Static<typeof PullEvents>;

export const HostReview = Type.Object({
  number: SafeId,
  author: TextOrNull,
  state: Type.Enum(['approved', 'changes_requested', 'commented', 'dismissed', 'pending']),
  ...{ body: Text, url: Text, commit: orNull(Oid), submitted_at: TimeOrNull },
});
export type HostReview = Static<typeof HostReview>;

export const HostReviews = Type.Object({ reviews: Type.Array(HostReview), unread: Unread });
type HostReviews = Static<typeof HostReviews>;

const ThreadComment = Type.Object({
  ...{ author: TextOrNull, body: Text, url: Text, created_at: Time },
  /** Whether the operator wrote it, with the account of the token. */
  own: Type.Boolean(),
});
export type ThreadComment = Static<typeof ThreadComment>;

export const ReviewThread = Type.Object({
  node_id: Type.String({ pattern: '^[A-Za-z0-9_+/=:.-]{1,200}$' }),
  resolved: Type.Boolean(),
  outdated: Type.Boolean(),
  path: Text,
  /** Null for a thread on the whole file, or on a line that no longer exists. */
  line: orNull(Count),
  start_line: orNull(Count),
  comments: Type.Array(ThreadComment),
});
export type ReviewThread = Static<typeof ReviewThread>;

export const HostThreads = Type.Object({ threads: Type.Array(ReviewThread), unread: Unread });
type HostThreads = Static<typeof HostThreads>;

/** The code host, with the token of `gh` or of the environment. Makes no request before the first call. */
export interface WithCodeHost {
  readonly codeHost: () => CodeHost;
}

export const FailingCheck = Type.Object({
  /** The id of the check run; with the prefix `status-` for a commit status. */
  id: Type.String({ pattern: '^(?:status-)?[1-9][0-9]{0,18}$' }),
  name: Text,
  /** The host's conclusion, such as `failure` or `timed_out`. */
  conclusion: Text,
  /** The name of the app that checks. */
  app: TextOrNull,
  /** The output of the check, annotations included; may be empty. */
  said: Text,
  url: TextOrNull,
  at: TimeOrNull,
  /** The job id, if the check ran on the host's runners and may have a log. */
  job: orNull(SafeId),
});
export type FailingCheck = Static<typeof FailingCheck>;

export const FailingChecks = Type.Object({
  checks: Type.Array(FailingCheck),
  /** Sentences that say which checks the token may not read. */
  unread: Type.Array(Text),
  /** Which checks cannot be used and why, each as a clause. */
  odd: Unread,
  /** Whether all check runs were read, else the app whose runs were; and whether all commit statuses were. */
  read: Type.Object({ runs: Type.Boolean(), app: TextOrNull, statuses: Type.Boolean() }),
});
export type FailingChecks = Static<typeof FailingChecks>;

export const JobLog = Type.Object({
  /** The first failed step. */
  step: orNull(Type.Object({ number: Count, name: Text })),
  /** The end of the step's log with control characters made visible; null if it could not be read. */
  end: TextOrNull,
  /** Why `end` is null. */
  why: TextOrNull,
});
export type JobLog = Static<typeof JobLog>;

/** Parses a full name, `owner/name`. */
export const repositoryNamed = (host: string, full_name: string): RepositoryName => {
  const [owner = '', name = ''] = full_name.split('/');
  return { host, owner, name };
};

export interface IssuePlace {
  repository: string;
  number: number;
}

/** The repository and number of an issue, from the URL of its page, whose path is `/owner/name/issues/number`. */
export const pageOfIssue = (url: string): IssuePlace | undefined => {
  const [, repository, number] = PAGE.exec(url) ?? [];
  return repository === undefined ? undefined : { repository, number: Number(number) };
};

const PAGE = /^https?:\/\/[^/?#]+\/([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+)\/issues\/(\d+)$/;
