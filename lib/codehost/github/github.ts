import { Type } from 'typebox';
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
import {
  type CodeHost,
  FailingChecks,
  type HostedRepository,
  HostReview,
  JobLog,
  Pull,
  PullEvent,
  ReviewThread,
} from '../code-host.ts';
import { authRefresh, authStatus, availability, me } from './account.ts';
import { failingChecks } from './checks.ts';
import { createHostContext, type GitHubOptions, type RepositoryContext } from './client.ts';
import { comment } from './comment.ts';
import { image } from './images.ts';
import { countOpenIssues, issue, issueComments, issues, issuesByNumber } from './issues.ts';
import { jobLog } from './job-log.ts';
import {
  findPull,
  linkedPulls,
  postPull,
  postReady,
  pull,
  pullEvents,
  setLabels,
  updatePull,
} from './pulls.ts';
import { assignees, labels, listMilestones, meta, permissions, validate } from './repository.ts';
import { resolveThread, reviews, threads } from './reviews.ts';
import { type Results, withUsableResults } from './usable.ts';

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
    repository: (name, check) => withUsableResults(repositoryOf({ context, name, check }), RESULTS),
  };
};

const repositoryOf = (place: RepositoryContext): HostedRepository => ({
  name: place.name,
  validate: () => validate(place),
  permissions: () => permissions(place),
  meta: () => meta(place),
  labels: () => labels(place),
  milestones: () => listMilestones(place),
  assignees: () => assignees(place),
  countOpenIssues: () => countOpenIssues(place),
  issues: (filter) => issues(place, filter),
  issue: (number) => issue(place, number),
  issuesByNumber: (numbers) => issuesByNumber(place, numbers),
  issueComments: (number) => issueComments(place, number),
  linkedPulls: (number) => linkedPulls(place, number),
  findPull: (head) => findPull(place, head),
  pull: (number) => pull(place, number),
  pullEvents: (number) => pullEvents(place, number),
  reviews: (number) => reviews(place, number),
  threads: (number) => threads(place, number),
  failingChecks: (commit) => failingChecks(place, commit),
  jobLog: (job) => jobLog(place, job),
  createPull: (wanted) => postPull(place, wanted),
  updatePull: (number, change) => updatePull(place, number, change),
  setLabels: (number, names) => setLabels(place, number, names),
  markReady: (number) => postReady(place, number),
  resolveThread: (number, id) => resolveThread(place, number, id),
  comment: (number, wanted) => comment(place, number, wanted),
});

/** What the calls result in; null for calls without a result, and for those that check it themselves. */
const RESULTS: Results = {
  validate: Validation,
  permissions: Permissions,
  meta: RepositoryMeta,
  labels: Type.Array(Label),
  milestones: Type.Array(Milestone),
  assignees: Type.Array(HostUser),
  countOpenIssues: Type.Integer(),
  issues: IssuePage,
  issue: Issue,
  issuesByNumber: null,
  issueComments: Type.Array(IssueComment),
  linkedPulls: Type.Array(LinkedPull),
  findPull: Type.Union([Pull, Type.Undefined()]),
  pull: Pull,
  pullEvents: Type.Array(PullEvent),
  reviews: Type.Array(HostReview),
  threads: Type.Array(ReviewThread),
  failingChecks: FailingChecks,
  jobLog: JobLog,
  createPull: Pull,
  updatePull: Pull,
  setLabels: null,
  markReady: Pull,
  resolveThread: null,
  comment: Type.Object({ id: Type.Integer(), url: Type.String(), updated: Type.Boolean() }),
};
