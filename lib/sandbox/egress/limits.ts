import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createSlots } from '../../../store/base/async.ts';

/** Open connections of a run, all sockets together. A browser opens up to 256 to one proxy. */
const MOST_OPEN = 256;
/** Unanswered requests on one connection. More than one is pipelining, which proxy clients do not use. */
const MOST_PIPELINED = 16;

/** The limits of one run in the proxy. Connections beyond a rate wait; those beyond a number are closed. */
export const createRunLimits = () => {
  const open = new Set<Socket>();
  const connections = createPace(200, 500);
  const requests = createPace(300, 600);
  const inFlight = new WeakMap<object, number>();
  return {
    /** Serves a connection when the rate allows it; closes it if there are too many. */
    admit: (socket: Socket, serve: () => void): void => {
      socket.on('error', () => socket.destroy());
      if (open.size >= MOST_OPEN) return void socket.destroy();
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      const wait = connections();
      if (wait === 0) serve();
      else setTimeout(() => socket.destroyed || serve(), wait);
    },
    /** Counts a request until the returned function is called; undefined if its connection has too many. */
    enter: (connection: object): (() => void) | undefined => {
      const count = (inFlight.get(connection) ?? 0) + 1;
      if (count > MOST_PIPELINED) return undefined;
      inFlight.set(connection, count);
      return () => inFlight.set(connection, (inFlight.get(connection) ?? 1) - 1);
    },
    /** Resolves when the rate allows another request. */
    request: async (): Promise<void> => {
      const wait = requests();
      if (wait > 0) await delay(wait);
    },
    /** Two lookups at a time: the resolver threads are few and shared by all runs. */
    lookups: createSlots(2),
    mcp: createMcpLimits(),
    close: (): void => {
      for (const socket of open) socket.destroy();
    },
  };
};
export type RunLimits = ReturnType<typeof createRunLimits>;

/** The longest MCP message. A model writes less in one call. */
export const MOST_MESSAGE_BYTES = 1024 * 1024;
const MOST_HELD_BYTES = 4 * MOST_MESSAGE_BYTES;

/** Limits for the number and total size of MCP messages of one run. */
export interface McpLimits {
  /** Passes one message at a time to the daemon, at the rate of the run. */
  pass: <T>(bytes: number, work: () => Promise<T>) => Promise<T>;
  /** Reserves memory for a body while it is read and answered; false if the run has too much. */
  hold: (bytes: number) => boolean;
  release: (bytes: number) => void;
}

const createMcpLimits = (): McpLimits => {
  const [calls, bytesPaced] = [createPace(10, 30), createPace(128 * 1024, MOST_MESSAGE_BYTES)];
  const slots = createSlots(1);
  let held = 0;
  return {
    pass: (bytes, work) =>
      slots(async () => {
        const wait = Math.max(calls(), bytesPaced(bytes));
        if (wait > 0) await delay(wait);
        return work();
      }),
    hold: (bytes) => {
      if (held + bytes > MOST_HELD_BYTES) return false;
      held += bytes;
      return true;
    },
    release: (bytes) => {
      held -= bytes;
    },
  };
};

/**
 * A rate limit of `perSecond` on average and `burst` at once. The returned function tells how many milliseconds to wait;
 * `cost` is the number of units.
 */
const createPace = (perSecond: number, burst: number): ((cost?: number) => number) => {
  const [each, ahead] = [1000 / perSecond, (burst * 1000) / perSecond];
  let due = 0;
  return (cost = 1) => {
    const now = performance.now();
    const wait = Math.max(0, due - now - ahead);
    due = Math.max(due, now) + cost * each;
    return wait;
  };
};
