import type { Agent, buildConnector } from 'undici';
import { settlesWithin } from '../../../store/base/within.ts';
import { isOwnAddress, OWN_ADDRESS, type OwnUrl } from './own-address.ts';

interface Parcel {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What became of it: the status of the answer, or why there was none. */
export interface ReceiverAnswer {
  status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface Sender {
  /** Sends it once. Undefined when this sender was closed before an answer came: nobody knows what became of it. */
  send(parcel: Parcel): Promise<ReceiverAnswer | undefined>;
  /** Gives what is under way a moment to finish. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const GRACE_MS = 1000;
const BODY_BYTES = 65_536;

/**
 * The one door for outgoing webhooks: one pool of connections per origin, at most 10 s until the answer, no redirect is
 * followed, the answer's body is thrown away, and nothing is sent to the daemon itself, at `own`.
 */
export const createSender = (own: OwnUrl = () => undefined, timeoutMs = TIMEOUT_MS): Sender => {
  const underWay = new Set<Promise<unknown>>();
  let agent: Promise<Agent> | undefined;
  let closed = false;
  return {
    send: async (parcel) => {
      if (closed) return undefined;
      agent ??= makeAgent(own, timeoutMs);
      const began = performance.now();
      const sending = post(await agent, parcel, timeoutMs);
      underWay.add(sending);
      const answer = await sending;
      underWay.delete(sending);
      // An error after the end is our own doing.
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

// Loaded with the first delivery: a workspace without webhooks starts without it. As many connections as are needed: how
// many deliveries are in flight is limited elsewhere, and none may wait behind another's silence.
const makeAgent = async (own: OwnUrl, timeoutMs: number): Promise<Agent> => {
  // A CommonJS package: bundled, it has no export but the default one.
  const { default: undici } = await import('undici');
  const connect = undici.buildConnector({ timeout: timeoutMs });
  return new undici.Agent({ connect: (to, done) => connect(to, unlessOurs(own, done)) });
};

// The address that was connected to is looked at, before anything is sent.
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
  { url, headers, body }: Parcel,
  timeoutMs: number,
): Promise<Omit<ReceiverAnswer, 'duration_ms'>> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const stop = () => clearTimeout(timer);
  const { signal } = abort;
  try {
    const { origin, pathname, search } = new URL(url);
    const path = pathname + search;
    const answer = await agent.request({ origin, path, method: 'POST', headers, body, signal });
    // Not waited for: the status decides. The timer ends a body that never does.
    answer.body.dump({ limit: BODY_BYTES, signal }).then(stop, stop);
    return { status: answer.statusCode, error: null };
  } catch (error) {
    stop();
    const late = `No answer within ${timeoutMs / 1000} s`;
    return { status: null, error: signal.aborted ? late : reason(error) };
  }
};

const reason = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return [code, message].filter((part) => part).join(': ');
};
