import type { Config } from '../../config.ts';
import { isSameServer } from './address.ts';

/** As Octokit calls it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Octokit repeats whatever fails, but for an error of this name; and waiting once more would double the time. */
export class TimedOut extends Error {
  override readonly name = 'AbortError';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`no answer within ${seconds} s`);
    this.seconds = seconds;
  }
}

const MOST_REDIRECTS = 3;

/**
 * Sends a request and reads the whole answer, so that a connection that breaks in the middle is an error and not a short
 * answer. Reads follow redirects on the same server, unless they ask where one leads to; a write never does, for the next
 * request might be another.
 */
export const createFetch =
  (network: Fetch, seconds: () => number): Fetch =>
  (url, init) =>
    withTimeout(seconds(), async (signal) => {
      const isSafe: Way['isSafe'] = (to, from, status) =>
        init.method === 'GET' && isSameServer(to, from) && !isWanted(status, init);
      const asked: RequestInit = { ...init, signal, redirect: 'manual' };
      const response = await follow(network, { url, init: asked, isSafe });
      return wholeOf(response, await response.arrayBuffer());
    });

/** Whether an answer is where something is kept, which is what was asked for; a repository that has moved answers 301. */
export const isWanted = (status: number, { redirect }: { redirect?: unknown }): boolean =>
  redirect === 'manual' && status === 302;

/** Gives some work so many seconds, after which it is TimedOut. */
export const withTimeout = async <T>(
  seconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? new TimedOut(seconds) : error;
  }
};

interface Way {
  url: string;
  init: RequestInit;
  /** Whether a redirect from one address to another may be followed. */
  isSafe: (to: string, from: string, status: number) => boolean;
}

/** Follows a few redirects, each only where it is safe; what comes then is the answer, perhaps one more redirect. */
export const follow = async (
  fetch: Fetch,
  { url: first, init, isSafe }: Way,
): Promise<Response> => {
  let url = first;
  for (let left = MOST_REDIRECTS; ; left -= 1) {
    const response = await fetch(url, init);
    const location = redirectOf(response);
    if (location === null || left === 0 || !isSafe(location, url, response.status)) return response;
    await response.body?.cancel();
    url = new URL(location, url).href;
  }
};

/** Where an answer leads to, if it is a redirect. */
export const redirectOf = ({ status, headers }: Response): string | null =>
  status > 300 && status < 400 ? headers.get('location') : null;

const NO_BODY = new Set([204, 205, 304]);

const wholeOf = (from: Response, bytes: ArrayBuffer): Response => {
  const { status, statusText, headers, url } = from;
  const body = NO_BODY.has(status) ? null : bytes;
  // Where a read ended up, which a new Response does not say.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', {
    value: url,
  });
};

/** The network as the environment says that it is reached; looked at with the first request. */
export const createNetwork = (env: Config['env']): Fetch => {
  let network: Promise<Fetch> | undefined;
  return async (url, init) => {
    network ??= networkOf(env);
    return (await network)(url, init);
  };
};

// Node's own fetch does not know of proxies, and its agents are not those of the package.
const networkOf = async (env: Config['env']): Promise<Fetch> => {
  const httpProxy = env.http_proxy || env.HTTP_PROXY;
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY;
  if (!httpProxy && !httpsProxy) return (url, init) => globalThis.fetch(url, init);
  const { default: undici } = await import('undici');
  const dispatcher = new undici.EnvHttpProxyAgent({
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: env.no_proxy || env.NO_PROXY || '',
  });
  const fetch = undici.fetch as unknown as (url: string, init: object) => Promise<Response>;
  return (url, init) => fetch(url, { ...init, dispatcher });
};
