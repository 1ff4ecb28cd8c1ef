import { MUTATIONS, QUERIES } from './documents.ts';

/** The whole of what is written by REST: the fields that each call may carry. What is not here does not leave. */
export const WRITES: Readonly<Record<string, readonly string[]>> = {
  'POST /repos/{owner}/{repo}/pulls': ['title', 'body', 'head', 'base', 'draft'],
  // Not `state`: it would close.
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': ['title', 'body'],
  // Of a pull request, which is an issue too for this.
  'PUT /repos/{owner}/{repo}/issues/{issue_number}/labels': ['labels'],
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

/** What a request does, as far as whoever sends it has to know. */
export type Effect = 'read' | 'question' | 'write';

/**
 * Says what a request does that Octokit is about to make: `question` is a read by POST. Whatever is not known to be
 * harmless throws, before anything leaves: a write that is not on the list, another server, another GraphQL document.
 */
export const classifyRequest = (asked: HostRequest, base: string): Effect => {
  const effect = judged(asked, base);
  if (effect !== undefined && hasPlainHeaders(asked)) return effect;
  throw new Error(`${asked.method} ${asked.url} is not among what the code host may be asked`);
};

const judged = (asked: HostRequest, base: string): Effect | undefined => {
  if (asked.baseUrl !== base) return undefined;
  if (isGraphql(asked, base)) return graphqlEffect(asked);
  if (asked.method === 'GET') return leadsTo(asked, base) ? 'read' : undefined;
  const fields = Object.hasOwn(WRITES, `${asked.method} ${asked.url}`)
    ? WRITES[`${asked.method} ${asked.url}`]
    : undefined;
  return fields !== undefined && carriesOnly(asked, fields) ? 'write' : undefined;
};

/** Where GraphQL is asked: beside REST, which on GitHub Enterprise has a path of its own. */
export const graphqlUrl = (base: string): string =>
  base.endsWith('/api/v3') ? base.replace(/v3$/, 'graphql') : `${base}/graphql`;

const isGraphql = ({ method, url }: HostRequest, base: string): boolean =>
  method === 'POST' && (url === '/graphql' || url === graphqlUrl(base));

const graphqlEffect = (asked: HostRequest): Effect | undefined => {
  const document = String(asked.query);
  if (!hasOnly(asked, ['query', 'variables'])) return undefined;
  if (QUERIES.has(document)) return 'question';
  return MUTATIONS.has(document) ? 'write' : undefined;
};

// A page's address is a whole one, as the host told it.
const leadsTo = (asked: HostRequest, base: string): boolean => {
  if (asked.url.startsWith('/')) return hasPlainPath(asked);
  return URL.canParse(asked.url) && isBelow(new URL(asked.url), base);
};

/** Whether an address is of the API that is asked. */
const isBelow = ({ origin, pathname, username }: URL, base: string): boolean =>
  username === '' && `${origin}${pathname}`.startsWith(`${base}/`);

const carriesOnly = (asked: HostRequest, fields: readonly string[]): boolean =>
  hasOnly(asked, [...fields, ...placesIn(asked.url)]) && hasPlainPath(asked);

const placesIn = (template: string): string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

// No value may lead out of its place in the path.
const hasPlainPath = (asked: HostRequest): boolean =>
  placesIn(asked.url).every((name) => {
    const value = asked[name];
    if (name === 'owner' || name === 'repo') return isName(value);
    if (name === 'ref') return isCommit(value);
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

// There are headers by which a request becomes another one.
const hasPlainHeaders = ({ headers = {} }: HostRequest): boolean =>
  Object.keys(headers).every((name) => HEADERS.includes(name.toLowerCase()));
