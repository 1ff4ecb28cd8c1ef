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
 * answer. Reads follow redirects on the same server; a write never does, for the next request might be another.
 */
export const createFetch = (env: Config['env'], seconds: () => number): Fetch => {
  let network: Promise<Fetch> | undefined;
  return async (url, init) => {
    network ??= networkOf(env);
    const fetch = await network;
    const limit = seconds();
    const signal = AbortSignal.timeout(limit * 1000);
    try {
      const response = await follow(fetch, url, { ...init, signal, redirect: 'manual' });
      return wholeOf(response, await response.arrayBuffer());
    } catch (error) {
      throw signal.aborted ? new TimedOut(limit) : error;
    }
  };
};

const follow = async (fetch: Fetch, from: string, init: RequestInit): Promise<Response> => {
  let url = from;
  for (let left = MOST_REDIRECTS; ; left -= 1) {
    const response = await fetch(url, init);
    const location = response.headers.get('location');
    const leads = response.status > 300 && response.status < 400 && location !== null;
    if (!leads || left === 0 || init.method !== 'GET' || !isSameServer(location, url))
      return response;
    await response.arrayBuffer();
    url = new URL(location, url).href;
  }
};

const NO_BODY = new Set([204, 205, 304]);

const wholeOf = (from: Response, bytes: ArrayBuffer): Response => {
  const { status, statusText, headers, url } = from;
  const body = NO_BODY.has(status) ? null : bytes;
  // Where a read ended up, which a new Response does not say.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', {
    value: url,
  });
};

// Node's own fetch does not know of proxies, and its agents are not those of the package.
export const networkOf = async (env: Config['env']): Promise<Fetch> => {
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
