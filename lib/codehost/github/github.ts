import type { CodeHost, HostedRepository, RepositoryName } from '../code-host.ts';
import { authRefresh, authStatus, availability, me } from './account.ts';
import { failingChecks } from './checks.ts';
import { createDesk, type HostSettings, type Surroundings } from './client.ts';
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

/** GitHub, and GitHub Enterprise. No library is loaded and nobody is asked before the first call. */
export const createGitHub = (surroundings: Surroundings): CodeHost => {
  const desk = createDesk(surroundings);
  return {
    kind: 'github',
    availability: (host) => availability(desk, host),
    authStatus: (host) => authStatus(desk, host),
    authRefresh: (host) => authRefresh(desk, host),
    me: (host) => me(desk, host),
    gitLogin: async (host) => {
      const token = await desk.tokens.of(host);
      return token && { username: 'x-access-token', password: token.value };
    },
    image: (host, url) => image(desk, host, url),
    repository: (name) => repositoryOf(desk, name),
  };
};

const repositoryOf = (desk: HostSettings, name: RepositoryName): HostedRepository => {
  const place = { desk, name };
  return {
    name,
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
    resolveThread: (id) => resolveThread(place, id),
    comment: (number, wanted) => comment(place, number, wanted),
  };
};
