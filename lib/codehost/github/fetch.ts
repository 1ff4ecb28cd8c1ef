import type { Config } from '../../config.ts';
import { isSameServer } from './address.ts';

/** The fetch function that Octokit calls. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A timeout. Its name keeps Octokit from retrying, which would double the time. */
export class TimedOut extends Error {
  override readonly name = 'AbortError';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`no answer within ${seconds} s`);
    this.seconds = seconds;
  }
}

/** A response over the size limit. Its name keeps Octokit from asking for it again. */
export class TooLarge extends Error {
  override readonly name = 'AbortError';
  readonly bytes: number;

  constructor(bytes: number) {
    super(`more than ${bytes} bytes`);
    this.bytes = bytes;
  }
}

// Far more than a hundred issues with bodies of GitHub's maximum; counted after decompression.
const LARGEST_ANSWER = 32 * 1024 * 1024;

const MOST_REDIRECTS = 3;

/**
 * Sends a request and reads the whole response, up to 32 MiB, so that a broken connection is an error and not a short response. Reads
 * follow redirects on the same server, unless the caller wants the redirect itself; writes never follow one.
 */
export const createFetch =
  (network: Fetch, seconds: () => number): Fetch =>
  (url, init) =>
    withTimeout(seconds(), async (signal) => {
      const isSafe: RedirectOptions['isSafe'] = (to, from, status) =>
        init.method === 'GET' && isSameServer(to.href, from) && !isWanted(status, init);
      const asked: RequestInit = { ...init, signal, redirect: 'manual' };
      const response = await follow(network, { url, init: asked, isSafe });
      return wholeOf(response, await bytesWithin(response, LARGEST_ANSWER));
    });

/** The body of a response. Throws TooLarge as soon as it has more bytes than that, and cancels the rest. */
export const bytesWithin = async (
  { body }: Response,
  most: number,
): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) throw new TooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Whether a response is the redirect (302) that the caller wants; a moved repository responds with 301. */
export const isWanted = (status: number, { redirect }: { redirect?: unknown }): boolean =>
  redirect === 'manual' && status === 302;

/** Runs `work` and throws TimedOut after `seconds`. */
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

interface RedirectOptions {
  url: string;
  init: RequestInit;
  /** Whether a redirect from one address to another may be followed. */
  isSafe: (to: URL, from: string, status: number) => boolean;
}

/** Follows up to three redirects that `isSafe` allows. The result may be a redirect that was not followed. */
export const follow = async (
  fetch: Fetch,
  { url: first, init, isSafe }: RedirectOptions,
): Promise<Response> => {
  let url = first;
  for (let left = MOST_REDIRECTS; ; left -= 1) {
    const response = await fetch(url, init);
    const location = redirectOf(response);
    const to =
      location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (to === undefined || left === 0 || !isSafe(to, url, response.status)) return response;
    await response.body?.cancel();
    url = to.href;
  }
};

/** The target of a redirect; null for other responses. */
export const redirectOf = ({ status, headers }: Response): string | null =>
  status > 300 && status < 400 ? headers.get('location') : null;

const NO_BODY = new Set([204, 205, 304]);

const wholeOf = (from: Response, bytes: Buffer<ArrayBuffer>): Response => {
  const { status, statusText, headers, url } = from;
  const body = NO_BODY.has(status) ? null : bytes;
  // A constructed Response has no URL; Octokit reads the final one.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', {
    value: url,
  });
};

/** A fetch that uses the proxy settings of the environment, read on the first request. */
export const createProxyFetch = (env: Config['env']): Fetch => {
  let network: Promise<Fetch> | undefined;
  return async (url, init) => {
    network ??= proxyFetchOf(env);
    return (await network)(url, init);
  };
};

// Node's fetch ignores proxy variables, and does not accept agents of the undici package.
const proxyFetchOf = async (env: Config['env']): Promise<Fetch> => {
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
