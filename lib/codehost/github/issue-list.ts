import type { IssueFilter, IssuePage } from '../../../store/records/code-host.ts';
import { badField } from '../../errors.ts';
import { apiPath, hostClient, type RemoteRepositoryAccess } from './client.ts';
import { listMilestones } from './repository.ts';
import { issueFromRest, type RestIssue } from './wire-issue.ts';

const PAGE = 30;

/**
 * One page of issues. REST lists pull requests among them: they are left out, so a page may hold fewer than the limit,
 * but never none while more are to come.
 */
export const issues = async (
  place: RemoteRepositoryAccess,
  filter: IssueFilter,
): Promise<IssuePage> => {
  const wanted = await parametersOf(place, filter);
  for (let at = positionOf(filter.cursor); ; ) {
    const { found, next } = await page(place, { ...wanted, ...at });
    if (found.length > 0 || next === null)
      return { issues: found.map(issueFromRest), next_cursor: next && cursorOf(next) };
    at = next;
  }
};

type Position = Record<string, string>;

const page = async (
  place: RemoteRepositoryAccess,
  wanted: object,
): Promise<{ found: RestIssue[]; next: Position | null }> => {
  const { api } = await hostClient(place);
  const { data, headers } = await api.request('GET /repos/{owner}/{repo}/issues', {
    ...apiPath(place),
    ...wanted,
  });
  const next = /<([^<>]+)>;\s*rel="next"/.exec(headers.link ?? '')?.[1];
  const found = data.filter(({ pull_request }) => !pull_request);
  return { found, next: next === undefined ? null : positionIn(new URL(next).searchParams) };
};

// GitHub pages by number in some lists, and by a cursor of its own in others.
const PLACES = ['page', 'after'];

const positionIn = (query: URLSearchParams): Position =>
  Object.fromEntries([...query].filter(([name]) => PLACES.includes(name)));

const cursorOf = (position: Position): string =>
  Buffer.from(new URLSearchParams(position).toString()).toString('base64url');

const positionOf = (cursor: string | undefined): Position => {
  if (cursor === undefined) return {};
  const query = new URLSearchParams(Buffer.from(cursor, 'base64url').toString('utf8'));
  const position = positionIn(query);
  if (Object.keys(position).length > 0) return position;
  throw badField('/cursor', 'is not one that was answered; leave it out to begin anew');
};

const parametersOf = async (
  place: RemoteRepositoryAccess,
  filter: IssueFilter,
): Promise<object> => {
  const { labels, milestone, limit = PAGE, cursor: _cursor, ...same } = filter;
  return {
    ...same,
    per_page: limit,
    ...(labels !== undefined && labels.length > 0 && { labels: labels.join(',') }),
    ...(milestone !== undefined && { milestone: await numberOf(place, milestone) }),
  };
};

// GitHub wants the number of a milestone, `*` for any and `none`; people know its title.
const numberOf = async (place: RemoteRepositoryAccess, milestone: string): Promise<string> => {
  if (/^(\d+|\*|none)$/.test(milestone)) return milestone;
  const known = await listMilestones(place);
  const found = known.find(({ title }) => title === milestone);
  if (found !== undefined) return String(found.number);
  throw badField(
    '/milestone',
    'is no milestone there; GET /api/codehost/repo/milestones lists them',
  );
};
