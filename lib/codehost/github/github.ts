import { type TSchema, Type } from 'typebox';
import {
  HostUser,
  Issue,
  IssueComment,
  IssuePage,
  Label,
  LinkedPull,
  Milestone,
  Permissions,
  RepositoryMeta,
  Validation,
} from '../../../store/records/code-host.ts';
import type { ServiceError } from '../../errors.ts';
import {
  type CodeHost,
  FailingChecks,
  type HostedRepository,
  HostReviews,
  HostThreads,
  IssueNumbersPage,
  JobLog,
  Pull,
  PullEvents,
} from '../code-host.ts';
import { authRefresh, authStatus, availability, me } from './account.ts';
import { failingChecks } from './checks.ts';
import { createHostContext, type GitHubOptions, type RepositoryContext } from './client.ts';
import { comment, Found, findComment, Written } from './comment.ts';
import { image } from './images.ts';
import {
  countOpenIssues,
  issue,
  issueComments,
  issueNumbers,
  issues,
  issuesByNumber,
} from './issues.ts';
import { jobLog } from './job-log.ts';
import { setLabels } from './pull-labels.ts';
import {
  findPull,
  linkedPulls,
  postPull,
  postReady,
  pull,
  pullEvents,
  updatePull,
} from './pulls.ts';
import { assignees, labels, listMilestones, meta, permissions, validate } from './repository.ts';
import { resolveThread, reviews, threads } from './reviews.ts';
import { checked, readable, unusable } from './usable.ts';

/** GitHub and GitHub Enterprise. Loads no library and makes no request before the first call. */
export const createGitHub = (options: GitHubOptions): CodeHost => {
  const context = createHostContext(options);
  return {
    availability: (host) => availability(context, host),
    authStatus: (host) => authStatus(context, host),
    authRefresh: (host) => authRefresh(context, host),
    me: (host) => me(context, host),
    gitLogin: async (host) => {
      const token = await context.tokens.of(host);
      return token && { username: 'x-access-token', password: token.value };
    },
    image: (host, url) => image(context, host, url),
    repository: (name, check) => repositoryAt({ context, name, check }),
  };
};

/**
 * The calls of a repository, whose results have the fields and types that they promise. Otherwise they throw 502
 * `codehost_upstream`, also where the host's answer could not even be read because of its form.
 */
const repositoryAt = (place: RepositoryContext): HostedRepository => {
  const { host, owner, name } = place.name;
  const usable = Object.entries(CALLS).map(([called, { call, result: schema, writes = false }]) => {
    const answer = call as (place: RepositoryContext, ...given: unknown[]) => Promise<unknown>;
    const guarded = async (...given: unknown[]): Promise<unknown> => {
      const number = typeof given[0] === 'number' && called !== 'jobLog' ? `#${given[0]}` : '';
      const fail = (why: string, cause?: unknown): ServiceError =>
        unusable(host, `${owner}/${name}${number}`, why, { write: writes, cause });
      const result = await readable(answer(place, ...given), fail);
      return schema === null ? result : checked(schema, result, fail);
    };
    return [called, guarded];
  });
  return { name: place.name, ...Object.fromEntries(usable) };
};

type CallName = Exclude<keyof HostedRepository, 'name'>;

interface Call<N extends CallName> {
  call: (
    place: RepositoryContext,
    ...given: Parameters<HostedRepository[N]>
  ) => ReturnType<HostedRepository[N]>;
  /** The schema of its result; null for a call without a result, and for one that checks it itself. */
  result: TSchema | null;
  writes?: true;
}

/** What does each call of a repository, and what it results in. */
type Calls = { readonly [N in CallName]: Call<N> };

const CALLS: Calls = {
  validate: { call: validate, result: Validation },
  permissions: { call: permissions, result: Permissions },
  meta: { call: meta, result: RepositoryMeta },
  labels: { call: labels, result: Type.Array(Label) },
  milestones: { call: listMilestones, result: Type.Array(Milestone) },
  assignees: { call: assignees, result: Type.Array(HostUser) },
  countOpenIssues: { call: countOpenIssues, result: Type.Integer() },
  issues: { call: issues, result: IssuePage },
  issueNumbers: { call: issueNumbers, result: IssueNumbersPage },
  issue: { call: issue, result: Issue },
  issuesByNumber: { call: issuesByNumber, result: null },
  issueComments: { call: issueComments, result: Type.Array(IssueComment) },
  linkedPulls: { call: linkedPulls, result: Type.Array(LinkedPull) },
  findPull: { call: findPull, result: Type.Union([Pull, Type.Undefined()]) },
  pull: { call: pull, result: Pull },
  pullEvents: { call: pullEvents, result: PullEvents },
  reviews: { call: reviews, result: HostReviews },
  threads: { call: threads, result: HostThreads },
  failingChecks: { call: failingChecks, result: FailingChecks },
  jobLog: { call: jobLog, result: JobLog },
  createPull: { call: postPull, result: Pull, writes: true },
  updatePull: { call: updatePull, result: Pull, writes: true },
  setLabels: { call: setLabels, result: Type.Array(Type.String()), writes: true },
  markReady: { call: postReady, result: Pull, writes: true },
  resolveThread: { call: resolveThread, result: null, writes: true },
  comment: { call: comment, result: Written, writes: true },
  findComment: { call: findComment, result: Type.Union([Found, Type.Undefined()]) },
};
