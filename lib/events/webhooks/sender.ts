import type { Agent, buildConnector } from 'undici';
import { settlesWithin } from '../../../store/base/async.ts';
import { isOwnAddress, OWN_ADDRESS, type OwnUrl } from './own-address.ts';

interface OutgoingRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The status of a receiver's response, or why there was none. */
export interface ReceiverAnswer {
  status: number | null;
  error: string | null;
  duration_ms: number;
}

/** Whether a receiver accepted a request. */
export const isAccepted = ({ status }: Pick<ReceiverAnswer, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300;

interface Sender {
  /** Sends a request once; undefined if the sender was closed before a response, so that the result is unknown. */
  send(request: OutgoingRequest): Promise<ReceiverAnswer | undefined>;
  /** Waits briefly for requests in progress. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const GRACE_MS = 1000;
const BODY_BYTES = 65_536;
const BODY_MS = 1000;

/**
 * Sends outgoing webhooks: with one connection pool per origin, a timeout of 10 s, no redirects, and never to the daemon
 * itself, at `own`. Response bodies are discarded, after 1 s at the latest.
 */
export const createSender = (own: OwnUrl = () => undefined, timeoutMs = TIMEOUT_MS): Sender => {
  const underWay = new Set<Promise<unknown>>();
  let agent: Promise<Agent> | undefined;
  let closed = false;
  return {
    send: async (request) => {
      if (closed) return undefined;
      agent ??= makeAgent(own, timeoutMs);
      const began = performance.now();
      const sending = post(await agent, request, timeoutMs);
      underWay.add(sending);
      const answer = await sending;
      underWay.delete(sending);
      // After `close`, errors come from closing the connections.
      if (closed && answer.status === null) return undefined;
      return { ...answer, duration_ms: Math.round(performance.now() - began) };
    },
    close: async () => {
      closed = true;
      await settlesWithin(Promise.all(underWay), GRACE_MS);
      await (await agent)?.destroy();
    },
  };
};

// undici is loaded with the first delivery, so that a workspace without webhooks starts faster. Connections are not limited
// here, so that no delivery waits behind a silent receiver; slots limit them.
const makeAgent = async (own: OwnUrl, timeoutMs: number): Promise<Agent> => {
  // A CommonJS package, which has only a default export when bundled.
  const { default: undici } = await import('undici');
  const connect = undici.buildConnector({ timeout: timeoutMs });
  return new undici.Agent({ connect: (to, done) => connect(to, unlessOurs(own, done)) });
};

// Checks the connected address before anything is sent.
const unlessOurs =
  (own: OwnUrl, done: buildConnector.Callback): buildConnector.Callback =>
  (...[error, socket]) => {
    if (error !== null) return done(error, null);
    if (!isOwnAddress(own, socket.remoteAddress, socket.remotePort)) return done(null, socket);
    socket.destroy();
    done(new Error(`The URL ${OWN_ADDRESS}.`), null);
  };

const post = async (
  agent: Agent,
  { url, headers, body }: OutgoingRequest,
  timeoutMs: number,
): Promise<Omit<ReceiverAnswer, 'duration_ms'>> => {
  const abort = new AbortController();
  const abortIn = (ms: number) => setTimeout(() => abort.abort(), ms);
  let timer = abortIn(timeoutMs);
  const { signal } = abort;
  try {
    const { origin, pathname, search } = new URL(url);
    const path = pathname + search;
    const answer = await agent.request({ origin, path, method: 'POST', headers, body, signal });
    clearTimeout(timer);
    timer = abortIn(BODY_MS);
    // Only the status counts. Awaited, so that a receiver whose bodies do not end has one connection at a time.
    await answer.body.dump({ limit: BODY_BYTES, signal }).catch(() => undefined);
    return { status: answer.statusCode, error: null };
  } catch (error) {
    const late = `No answer within ${timeoutMs / 1000} s`;
    return { status: null, error: signal.aborted ? late : reason(error) };
  } finally {
    clearTimeout(timer);
  }
};

const reason = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return [code, message].filter((part) => part).join(': ');
};
