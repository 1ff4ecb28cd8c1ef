import { MUTATIONS, QUERIES } from './documents.ts';

/** All REST calls that write, with the fields they may send. Any other write is refused before it is sent. */
export const WRITES: Readonly<Record<string, readonly string[]>> = {
  'POST /repos/{owner}/{repo}/pulls': ['title', 'body', 'head', 'base', 'draft'],
  // Not `state`, which could close it.
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': ['title', 'body'],
  // The labels of a pull request are set through its issue.
  'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': ['labels'],
  'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}': [],
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': ['body'],
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': ['body'],
};

export interface HostRequest {
  method: string;
  url: string;
  baseUrl: string;
  headers?: object;
  [parameter: string]: unknown;
}

/** The effect of a request. A query of GraphQL is a read, too. */
export type Effect = 'read' | 'write';

/**
 * Classifies a request that Octokit is about to send. Throws for anything not on the allow-list: other writes, other
 * servers, other GraphQL documents.
 */
export const classifyRequest = (asked: HostRequest, base: string): Effect => {
  const effect = judged(asked, base);
  if (effect !== undefined && hasPlainHeaders(asked)) return effect;
  throw new Error(`${asked.method} ${asked.url} is not on the allow-list of code host requests`);
};

const judged = (asked: HostRequest, base: string): Effect | undefined => {
  if (asked.baseUrl !== base) return undefined;
  if (isGraphql(asked, base)) return graphqlEffect(asked);
  if (asked.method === 'GET') return isPlain(asked) ? 'read' : undefined;
  const fields = Object.hasOwn(WRITES, `${asked.method} ${asked.url}`)
    ? WRITES[`${asked.method} ${asked.url}`]
    : undefined;
  return fields !== undefined && carriesOnly(asked, fields) ? 'write' : undefined;
};

/** The GraphQL URL: next to REST, whose path differs on GitHub Enterprise. */
export const graphqlUrl = (base: string): string =>
  base.endsWith('/api/v3') ? base.replace(/v3$/, 'graphql') : `${base}/graphql`;

const isGraphql = ({ method, url }: HostRequest, base: string): boolean =>
  method === 'POST' && (url === '/graphql' || url === graphqlUrl(base));

const graphqlEffect = (asked: HostRequest): Effect | undefined => {
  const document = String(asked.query);
  if (!hasOnly(asked, ['query', 'variables'])) return undefined;
  if (QUERIES.has(document)) return 'read';
  return MUTATIONS.has(document) ? 'write' : undefined;
};

// Without a server, which is that of `baseUrl`.
const isPlain = (asked: HostRequest): boolean => /^\/(?!\/)/.test(asked.url) && hasPlainPath(asked);

const carriesOnly = (asked: HostRequest, fields: readonly string[]): boolean =>
  hasOnly(asked, [...fields, ...placesIn(asked.url)]) && hasPlainPath(asked);

const placesIn = (template: string): string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

// A path parameter must not contain a slash or `..`.
const hasPlainPath = (asked: HostRequest): boolean =>
  placesIn(asked.url).every((name) => {
    const value = asked[name];
    if (name === 'owner' || name === 'repo') return isName(value);
    if (name === 'ref') return isCommit(value);
    // Encoded but for dots: `.` and `..` would lead to another path.
    if (name === 'name') return typeof value === 'string' && !/^\.{0,2}$/.test(value);
    return Number.isSafeInteger(value) && Number(value) > 0;
  });

const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w.-]+$/.test(value) && !/^\.+$/.test(value);

const isCommit = (value: unknown): boolean =>
  typeof value === 'string' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);

const OPTIONS = ['method', 'url', 'baseUrl', 'headers', 'request', 'mediaType'];

const hasOnly = (asked: HostRequest, names: readonly string[]): boolean =>
  Object.keys(asked).every((name) => OPTIONS.includes(name) || names.includes(name));

const HEADERS = ['accept', 'authorization', 'user-agent', 'x-github-api-version'];

// Some headers change the meaning of a request, such as method overrides.
const hasPlainHeaders = ({ headers = {} }: HostRequest): boolean =>
  Object.keys(headers).every((name) => HEADERS.includes(name.toLowerCase()));
