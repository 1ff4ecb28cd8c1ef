import {
  Issue,
  type IssueComment,
  type IssueFilter,
  type IssuePage,
} from '../../../store/records/code-host.ts';
import { badField, ServiceError } from '../../errors.ts';
import {
  type HostedRepository,
  type IssuePlace,
  type MissingIssue,
  pageOfIssue,
} from '../code-host.ts';
import {
  apiPath,
  fullNameOf,
  hostClient,
  isSameName,
  type RepositoryContext,
  variablesOf,
} from './client.ts';
import { BATCH, COUNT_ISSUES, ISSUE_BATCHES } from './documents.ts';
import { listOf, type Position, pagesOf, positionIn } from './pages.ts';
import { hasErrorCode } from './problem.ts';
import { listMilestones } from './repository.ts';
import { checked, unusable } from './usable.ts';
import { type GraphqlIssue, issueFromGraphql, issueFromRest, type RestIssue } from './wire.ts';

/** The number of open issues, without pull requests, which REST counts as issues. */
export const countOpenIssues = async (place: RepositoryContext): Promise<number> => {
  const { ask } = await hostClient(place);
  const { repository } = await ask<Counted>(COUNT_ISSUES, variablesOf(place));
  return repository.issues.totalCount;
};

interface Counted {
  repository: { issues: { totalCount: number } };
}

/** One issue. 404 `codehost_gone` if it was moved to another repository or deleted. */
export const issue = async (place: RepositoryContext, number: number): Promise<Issue> => {
  const { api } = await hostClient(place);
  const { data } = await api.request('GET /repos/{owner}/{repo}/issues/{issue_number}', {
    ...apiPath(place),
    issue_number: number,
  });
  if (data.pull_request) throw pullNotIssue(place, number);
  const fail = failureFor(place, number);
  const found = onHost(place, checked(Issue, issueFromRest(data), fail));
  const there = pageOfIssue(found.url);
  const now = repositoryAt(data) ?? fullNameOf(place.name);
  if (there?.number !== found.number || !isSameName(there.repository, now))
    throw fail(`it is issue ${found.number} of ${now}, with the page ${found.url}`);
  if (await wasMoved(place, number, there)) throw movedTo(place, number, found.url);
  return found;
};

const failureFor =
  ({ name }: RepositoryContext, number: number) =>
  (why: string): ServiceError =>
    unusable(name.host, `${fullNameOf(name)}#${number}`, why);

const repositoryAt = ({ repository_url }: RestIssue): string | undefined =>
  /\/repos\/([^/]+\/[^/]+)\/?$/.exec(repository_url)?.[1];

// A page on another server, or with a scheme that runs as a script, is none of the host's.
const onHost = (place: RepositoryContext, issue: Issue): Issue => {
  const { host } = place.name;
  const page = URL.canParse(issue.url) ? new URL(issue.url) : undefined;
  const there = page && pageOfIssue(`https://${host}${page.pathname}`);
  if (page === undefined || there === undefined)
    throw failureFor(place, issue.number)(`${issue.url} is not the page of an issue`);
  if ([`https://${host}`, place.context.web(host)].includes(page.origin)) return issue;
  return { ...issue, url: `https://${host}${page.pathname}` };
};

const pullNotIssue = ({ name }: RepositoryContext, number: number): ServiceError =>
  new ServiceError(
    'codehost_not_found',
    `${fullNameOf(name)}#${number} is a pull request, not an issue. POST /api/codehost/issues/fetch lists the issues.`,
    { members: { is_pull_request: true } },
  );

const movedTo = ({ name }: RepositoryContext, number: number, moved_to: string): ServiceError =>
  new ServiceError(
    'codehost_gone',
    `${fullNameOf(name)}#${number} was moved to ${moved_to}. Link the Work item to the new issue, or continue without a link.`,
    { members: { moved_to } },
  );

// After a redirect: that of a renamed repository leads to the same issue, that of a moved issue to another repository.
const wasMoved = async (
  place: RepositoryContext,
  number: number,
  there: IssuePlace | undefined,
): Promise<boolean> => {
  if (there?.number !== number) return true;
  if (isSameName(there.repository, place.full_name ?? fullNameOf(place.name))) return false;
  const { api } = await hostClient(place);
  const { data } = await api.request('GET /repos/{owner}/{repo}', apiPath(place));
  place.full_name = data.full_name;
  return !isSameName(there.repository, data.full_name);
};

/** Several issues, in queries of 50 each. A deleted or moved one is a MissingIssue. */
export const issuesByNumber = async (
  place: RepositoryContext,
  numbers: readonly number[],
): Promise<Map<number, Issue | MissingIssue>> => {
  const found = new Map<number, Issue | MissingIssue>();
  const wanted = [...new Set(numbers)];
  for (let from = 0; from < wanted.length; from += BATCH) {
    const batch = wanted.slice(from, from + BATCH);
    const { nameWithOwner, ...answers } = await askFor(place, batch);
    for (const [at, number] of batch.entries()) {
      const answer = answers[`i${at}`];
      const there = answer && stillThere(place, { number, answer, nameWithOwner });
      found.set(number, there ?? (await missingOrMoved(place, number)));
    }
  }
  return found;
};

interface Answered {
  number: number;
  answer: GraphqlIssue;
  /** Of the repository now: it may have been renamed. */
  nameWithOwner: string;
}

const stillThere = (
  place: RepositoryContext,
  { number, answer, nameWithOwner }: Answered,
): Issue | undefined => {
  const issue = checked(Issue, issueFromGraphql(answer), failureFor(place, number));
  const found = onHost(place, issue);
  const there = pageOfIssue(found.url);
  const isHere = there?.number === number && isSameName(there.repository, nameWithOwner);
  return issue.number === number && isHere ? found : undefined;
};

type Batch = { nameWithOwner: string } & { [at: `i${number}`]: GraphqlIssue | null };

const askFor = async (place: RepositoryContext, numbers: readonly number[]): Promise<Batch> => {
  const { ask } = await hostClient(place);
  const document = ISSUE_BATCHES[numbers.length - 1] ?? '';
  const variables = Object.fromEntries(numbers.map((number, at) => [`n${at}`, number]));
  const options = { absent: true };
  const answer = await ask<{ repository: Batch }>(
    document,
    { ...variablesOf(place), ...variables },
    options,
  );
  return answer.repository;
};

// GraphQL only reports that it is missing; REST redirects to its new place.
const missingOrMoved = async (
  place: RepositoryContext,
  number: number,
): Promise<Issue | MissingIssue> => {
  try {
    return await issue(place, number);
  } catch (error) {
    if (!hasErrorCode(error, 'codehost_gone', 'codehost_not_found')) throw error;
    const { moved_to } = error.members;
    return typeof moved_to === 'string'
      ? { missing: 'moved', url: moved_to }
      : { missing: 'deleted' };
  }
};

export const issueComments = async (
  place: RepositoryContext,
  number: number,
): Promise<IssueComment[]> => {
  const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const all = await listOf(place, route, { issue_number: number });
  return all.map(({ id, user, body = '', html_url: url, created_at, updated_at }) => ({
    id: Number(id),
    body,
    url,
    created_at,
    updated_at,
    author: user?.login ?? null,
  }));
};

const PAGE = 30;

/** One page of issues. */
export const issues = async (place: RepositoryContext, filter: IssueFilter): Promise<IssuePage> => {
  const { items, next_cursor } = await pageOf(place, filter);
  return { issues: items.map((each) => onHost(place, issueFromRest(each))), next_cursor };
};

/** The numbers of the same page, also of issues whose other fields cannot be used. */
export const issueNumbers = async (
  place: RepositoryContext,
  filter: IssueFilter,
): ReturnType<HostedRepository['issueNumbers']> => {
  const { items, next_cursor } = await pageOf(place, filter);
  return { numbers: items.map(({ number }) => number), next_cursor };
};

// REST includes pull requests, which are removed: a page may have fewer items than the limit, but is never empty while there
// are more.
const pageOf = async (
  place: RepositoryContext,
  filter: IssueFilter,
): Promise<{ items: RestIssue[]; next_cursor: string | null }> => {
  const wanted = await parametersOf(place, filter);
  const route = 'GET /repos/{owner}/{repo}/issues';
  for await (const { items, next } of pagesOf(place, route, wanted, positionOf(filter.cursor))) {
    const found = items.filter(({ pull_request }) => !pull_request);
    if (found.length > 0 || next === null)
      return { items: found, next_cursor: next && cursorOf(next) };
  }
  return { items: [], next_cursor: null };
};

const cursorOf = (position: Position): string =>
  Buffer.from(new URLSearchParams(position).toString()).toString('base64url');

const positionOf = (cursor: string | undefined): Position => {
  if (cursor === undefined) return {};
  const query = new URLSearchParams(Buffer.from(cursor, 'base64url').toString('utf8'));
  const position = positionIn(query);
  if (Object.keys(position).length > 0) return position;
  throw badField('/cursor', 'is not a cursor of an earlier response; omit it to start again');
};

const parametersOf = async (place: RepositoryContext, filter: IssueFilter): Promise<object> => {
  const { labels, milestone, limit = PAGE, cursor: _cursor, ...same } = filter;
  return {
    ...same,
    per_page: limit,
    ...(labels !== undefined && labels.length > 0 && { labels: labels.join(',') }),
    ...(milestone !== undefined && { milestone: await numberOf(place, milestone) }),
  };
};

// GitHub expects the number of a milestone, `*` or `none`; also accept its title.
const numberOf = async (place: RepositoryContext, milestone: string): Promise<string> => {
  if (/^(\d+|\*|none)$/.test(milestone)) return milestone;
  const known = await listMilestones(place);
  const found = known.find(({ title }) => title === milestone);
  if (found !== undefined) return String(found.number);
  throw badField(
    '/milestone',
    'is not a milestone of the repository; GET /api/codehost/repo/milestones lists them',
  );
};
