import type { Octokit } from '@octokit/core';
import type { paginateGraphQLInterface } from '@octokit/plugin-paginate-graphql';
import { createLocks, type Locks } from '../../../store/base/mutex.ts';
import type { CodeHostSettings } from '../../../store/records/settings.ts';
import type { Config } from '../../config.ts';
import { invalidState, type ServiceError } from '../../errors.ts';
import { createGh, type Gh } from '../../tools/process/gh.ts';
import type { Pull, RepositoryName } from '../code-host.ts';
import { apiOf, isCodeHost, webOf } from './address.ts';
import type { Headers } from './failure.ts';
import { createFetch, createProxyFetch, type Fetch } from './fetch.ts';
import { problemFrom } from './problem.ts';
import { contextOf, createRequestHook, type HostConnection } from './send.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** The options of `createGitHub`. */
export interface GitHubOptions {
  env: Config['env'];
  settings: () => CodeHostSettings;
  /** The version of Dossier, for the user agent. */
  version: string;
}

export type Api = Octokit & paginateGraphQLInterface;

/** The API of one host. Every failure is a ServiceError. */
interface HostClient {
  /** The base URL of its API. */
  base: string;
  /** REST; `listOf` reads a whole list. */
  api: Api;
  /** Sends one GraphQL document. */
  ask<T>(document: string, variables: Variables, options?: QueryOptions): Promise<T>;
  /** The pages of the document's list, fetched on demand. */
  pages<T>(document: string, variables: Variables): AsyncIterable<T>;
}

interface QueryOptions {
  /** Return null for objects below the first field that are not found, instead of an error. */
  absent?: boolean;
  /** The required permission, if GitHub's error does not name it. */
  needs?: string;
  /** The subject for error messages, if the variables do not name it. */
  about?: string;
}

type Variables = Record<string, string | number>;

/** The state shared by all calls. */
export interface HostContext {
  gh: Gh;
  tokens: Tokens;
  /** One write at a time for a host. */
  locks: Locks;
  client(host: string): Promise<HostClient>;
  /** The origin of a host's pages. */
  web(host: string): string;
  /** Plain fetch for other URLs than the API: without redirects and retries. */
  fetch: Fetch;
  seconds: () => number;
}

/** Seconds. */
export const TIMEOUT_S = 30;

export const createHostContext = ({ env, settings, version }: GitHubOptions): HostContext => {
  const gh = createGh(env);
  const isKnown = (host: string): boolean => isCodeHost(host, settings(), gh);
  const tokens = createTokens(env, gh, isKnown);
  const locks = createLocks();
  const network = createProxyFetch(env);
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
      if (!isKnown(host)) throw unknownHost(host);
      const base = apiOf(host, { env, settings: settings() });
      const key = `${host} ${base}`;
      const client = known.get(key) ?? open({ host, base, tokens, locks }, { fetch, version });
      known.set(key, client);
      return client;
    },
  };
};

const unknownHost = (host: string): ServiceError =>
  invalidState(
    `${host} is not a code host of this workspace, so no request was sent to it. Correct the file that names it, or set codehost: { host: ${host} } in workspace.md, or run gh auth login --hostname ${host}.`,
  );

interface Means {
  fetch: Fetch;
  version: string;
}

const open = async (connection: HostConnection, means: Means): Promise<HostClient> => {
  const api = await octokit(connection, means);
  return {
    base: connection.base,
    api,
    ask: async <T>(document: string, variables: Variables, options: QueryOptions = {}) => {
      try {
        return await api.graphql<T>(document, { ...variables, request: { about: options.about } });
      } catch (error) {
        if (options.absent && isAbsence(error)) return error.data as T;
        throw await graphqlProblem(error, { connection, variables, options });
      }
    },
    pages: async function* <T>(document: string, variables: Variables) {
      try {
        yield* api.graphql.paginate.iterator<T>(document, variables);
      } catch (error) {
        throw await graphqlProblem(error, { connection, variables, options: {} });
      }
    },
  };
};

// Loaded on the first call, so that a workspace without a code host starts faster.
const octokit = async (connection: HostConnection, { fetch, version }: Means): Promise<Api> => {
  const [core, graphql, retry] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-paginate-graphql'),
    import('@octokit/plugin-retry'),
  ]);
  const Made = core.Octokit.plugin(graphql.paginateGraphQL, retry.retry);
  const api = new Made({
    baseUrl: connection.base,
    userAgent: `dossier/${version}`,
    log: SILENT,
    request: { fetch, log: SILENT },
    retry: { retries: RETRIES, doNotRetry: ANSWERS, retryAfterBaseValue: RETRY_MS },
  });
  api.hook.wrap('request', createRequestHook(connection));
  return api;
};

const nothing = (): void => undefined;
// Octokit's log messages contain URLs and headers.
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

// Statuses that a retry cannot change; for 429 a retry would make the limit worse.
const ANSWERS = [400, 401, 403, 404, 405, 406, 409, 410, 415, 422, 429, 451];
// Retries wait 200 ms and 800 ms.
const RETRIES = 2;
const RETRY_MS = 200;

interface Query {
  connection: HostConnection;
  variables: Variables;
  options: QueryOptions;
}

/** A GraphqlResponseError of Octokit. */
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

// A partial response counts as a failure, because missing data would look like absent data.
const graphqlProblem = async (error: unknown, { connection, variables, options }: Query) => {
  if (!isRefusal(error)) return error;
  const { owner, name, number } = variables;
  const place = number === undefined ? `${owner}/${name}` : `${owner}/${name}#${number}`;
  const about = owner === undefined ? 'this request' : place;
  const question = contextOf(connection, about, await connection.tokens.of(connection.host));
  const { errors = [], headers } = error;
  return problemFrom({ kind: 'errors', errors, headers }, { ...question, ...options });
};

/** A repository and the state of its host. */
export interface RepositoryContext {
  name: RepositoryName;
  /** Throws for a pull request that must not be written to. */
  check?: ((pull: Pull) => void) | undefined;
  /** What the host last called it, if that was asked. */
  full_name?: string;
  context: HostContext;
}

export const hostClient = ({ name, context }: RepositoryContext): Promise<HostClient> =>
  context.client(name.host);

/** The path parameters of REST routes. */
export const apiPath = ({ name }: RepositoryContext): { owner: string; repo: string } => ({
  owner: name.owner,
  repo: name.name,
});

/** The variables of GraphQL documents. */
export const variablesOf = ({ name }: RepositoryContext): { owner: string; name: string } => ({
  owner: name.owner,
  name: name.name,
});

export const fullNameOf = ({ owner, name }: Pick<RepositoryName, 'owner' | 'name'>): string =>
  `${owner}/${name}`;

/** Compares names like GitHub, which ignores case. */
export const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
