import type { Octokit } from '@octokit/core';
import type { paginateGraphQLInterface } from '@octokit/plugin-paginate-graphql';
import type { PaginateInterface, PaginatingEndpoints } from '@octokit/plugin-paginate-rest';
import { createLocks, type Locks } from '../../../store/base/mutex.ts';
import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { createGh, type Gh } from '../../tools/process/gh.ts';
import type { RepositoryName } from '../code-host.ts';
import { apiOf, webOf } from './address.ts';
import type { Headers } from './failure.ts';
import { createFetch, createNetwork, type Fetch } from './fetch.ts';
import { problemFrom } from './problem.ts';
import { contextOf, type Door, guarded } from './send.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** What the client is made from. */
export interface GitHubOptions {
  env: Config['env'];
  settings: () => CodeHostSettings;
  /** Of Dossier. */
  version: string;
}

export type Api = Octokit & { paginate: PaginateInterface } & paginateGraphQLInterface;

/** One host's API. Whatever fails is a ServiceError. */
interface HostClient {
  host: string;
  /** Of its API. */
  base: string;
  /** REST: `api.request`, and `api.paginate` for a whole list. */
  api: Api;
  /** One GraphQL document. */
  ask<T>(document: string, variables: Variables, wish?: Wish): Promise<T>;
  /** All pages of its one list, each asked for when it is wanted. */
  pages<T>(document: string, variables: Variables): AsyncIterable<T>;
}

interface Wish {
  /** What is not found below the first field is null in the answer, and no error. */
  absent?: boolean;
  /** The permission, where GitHub's refusal would not name it. */
  needs?: string;
  /** What is asked about, where the variables do not say. */
  about?: string;
}

type Variables = Record<string, string | number>;

/** What all calls share. */
export interface HostContext {
  gh: Gh;
  tokens: Tokens;
  /** One write at a time for a host. */
  locks: Locks;
  client(host: string): Promise<HostClient>;
  /** Where the pages of a host are asked. */
  web(host: string): string;
  /** As it is, for what is no API: no redirect is followed, nothing is repeated. */
  fetch: Fetch;
  seconds: () => number;
}

/** Seconds. */
export const TIMEOUT_S = 30;

export const createHostContext = ({ env, settings, version }: GitHubOptions): HostContext => {
  const gh = createGh(env);
  const tokens = createTokens(env, gh);
  const locks = createLocks();
  const network = createNetwork(env);
  const seconds = (): number => settings().timeout_seconds ?? TIMEOUT_S;
  const fetch = createFetch(network, seconds);
  const known = new Map<string, Promise<HostClient>>();
  return {
    gh,
    tokens,
    locks,
    seconds,
    fetch: network,
    web: (host) => webOf(host, apiOf(host, { env, settings: settings() })),
    client: async (host) => {
      const base = apiOf(host, { env, settings: settings() });
      const key = `${host} ${base}`;
      const client = known.get(key) ?? open({ host, base, tokens, locks }, { fetch, version });
      known.set(key, client);
      return client;
    },
  };
};

interface Means {
  fetch: Fetch;
  version: string;
}

const open = async (door: Door, means: Means): Promise<HostClient> => {
  const api = await octokit(door, means);
  return {
    host: door.host,
    base: door.base,
    api,
    ask: async <T>(document: string, variables: Variables, wish: Wish = {}) => {
      try {
        return await api.graphql<T>(document, variables);
      } catch (error) {
        if (wish.absent && isAbsence(error)) return error.data as T;
        throw await graphqlProblem(error, { door, variables, wish });
      }
    },
    pages: async function* <T>(document: string, variables: Variables) {
      try {
        yield* api.graphql.paginate.iterator<T>(document, variables);
      } catch (error) {
        throw await graphqlProblem(error, { door, variables, wish: {} });
      }
    },
  };
};

// Loaded with the first call: a workspace without a code host starts without it.
const octokit = async (door: Door, { fetch, version }: Means): Promise<Api> => {
  const [core, rest, graphql, retry] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-paginate-rest'),
    import('@octokit/plugin-paginate-graphql'),
    import('@octokit/plugin-retry'),
  ]);
  const Made = core.Octokit.plugin(rest.paginateRest, graphql.paginateGraphQL, retry.retry);
  const api = new Made({
    baseUrl: door.base,
    userAgent: `dossier/${version}`,
    log: SILENT,
    request: { fetch, log: SILENT },
    retry: { retries: RETRIES, doNotRetry: ANSWERS, retryAfterBaseValue: RETRY_MS },
  });
  api.hook.wrap('request', guarded(door));
  return api;
};

const nothing = (): void => undefined;
// What it would say holds addresses and headers.
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

// Asked again they would say the same, and a limit would be overdrawn further.
const ANSWERS = [400, 401, 403, 404, 405, 406, 409, 410, 415, 422, 429, 451];
// The second time after 200 ms, the third after 800 more.
const RETRIES = 2;
const RETRY_MS = 200;

interface Query {
  door: Door;
  variables: Variables;
  wish: Wish;
}

/** GraphQL's own errors, as Octokit throws them. */
interface Refusal extends Error {
  errors?: { type?: string; path?: unknown[] }[];
  headers: Headers;
  data: unknown;
}

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && error.name === 'GraphqlResponseError';

const isAbsence = (error: unknown): error is Refusal =>
  isRefusal(error) &&
  error.errors?.every(({ type, path = [] }) => type === 'NOT_FOUND' && path.length > 1) === true;

// An answer that is partly there is none: what is missing would read as if it were not.
const graphqlProblem = async (error: unknown, { door, variables, wish }: Query) => {
  if (!isRefusal(error)) return error;
  const { owner, name, number } = variables;
  const place = number === undefined ? `${owner}/${name}` : `${owner}/${name}#${number}`;
  const about = owner === undefined ? 'what was asked' : place;
  const question = contextOf(door, about, await door.tokens.of(door.host));
  const { errors = [], headers } = error;
  return problemFrom({ kind: 'errors', errors, headers }, { ...question, ...wish });
};

/** A repository, and who asks about it. */
export interface RepositoryContext {
  name: RepositoryName;
  context: HostContext;
}

export const hostClient = ({ name, context }: RepositoryContext): Promise<HostClient> =>
  context.client(name.host);

/** As REST's routes name it. */
export const apiPath = ({ name }: RepositoryContext): { owner: string; repo: string } => ({
  owner: name.owner,
  repo: name.name,
});

/** As GraphQL's documents do. */
export const variablesOf = ({ name }: RepositoryContext): { owner: string; name: string } => ({
  owner: name.owner,
  name: name.name,
});

export const fullNameOf = ({ owner, name }: Pick<RepositoryName, 'owner' | 'name'>): string =>
  `${owner}/${name}`;

/** GitHub tells no upper from lower case in names. */
export const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** As many to a page as GitHub gives. */
export const PER_PAGE = { per_page: 100 } as const;

/** The whole of one of a repository's lists, by REST; `of` is what stands in its path and its query. */
export const listOf = async <R extends keyof PaginatingEndpoints>(
  place: RepositoryContext,
  route: R,
  of: Record<string, string | number> = {},
): Promise<PaginatingEndpoints[R]['response']['data']> => {
  const { api } = await hostClient(place);
  const parameters = { ...apiPath(place), ...PER_PAGE, ...of };
  return api.paginate(route, parameters as PaginatingEndpoints[R]['parameters']) as Promise<
    PaginatingEndpoints[R]['response']['data']
  >;
};

/** What `pick` finds in all pages of a list of one issue's, or pull request's, by GraphQL. */
export const collectPages = async <P, T>(
  place: RepositoryContext,
  { document, number }: { document: string; number: number },
  pick: (repository: P) => readonly T[],
): Promise<T[]> => {
  const { pages } = await hostClient(place);
  const all: T[] = [];
  const variables = { ...variablesOf(place), number };
  for await (const { repository } of pages<{ repository: P }>(document, variables))
    all.push(...pick(repository));
  return all;
};
