import type { Authority } from './authority.ts';
import type { EgressRules } from './egress-policy.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';

/** The connection settings of one run. */
export interface RunTask {
  /** The directory of its sockets. */
  dir: string;
  /** The port inside that leads to the proxy. */
  port: number;
  rules: EgressRules;
  /** Services of this machine with a socket of their own. */
  inside: readonly Authority[];
  /** The token for MCP; undefined: no MCP. */
  token: string | undefined;
}

export interface RunEvents {
  tell: (told: NetworkNews) => void;
  /** Answers an MCP message that is within the limits and has the token of the run. */
  mcp: AnswerMcp;
  /** Called once if the sockets cannot be opened or closed unexpectedly: the run has no network any more. */
  lost: (reason: string) => void;
}

/** Accepts the connections of runs. Data of runs is read nowhere else. */
export interface Doors {
  /** Makes ready, without waiting, for a run that opens its sockets soon. */
  prepare(): void;
  /**
   * Opens the sockets of a run, asynchronously: the relay waits for them. Returns the function that closes them, which resolves
   * after the last report.
   */
  open(task: RunTask, events: RunEvents): () => Promise<void>;
  /** Opens a loopback port that serves only MCP, to the holder of this token. */
  openPort(token: string, mcp: AnswerMcp): Promise<McpPort>;
}

export interface McpPort {
  port: number;
  close(): void;
}

/** A service that answers MCP messages of runs by their token, and accepts their connections. */
export interface WithDoors {
  readonly mcp: (token: string | undefined) => AnswerMcp;
  readonly doors: Doors;
}

const MOST_TOLD = 200;

/** Reports each destination once per outcome, up to 200. */
export const reportOncePerTarget = (
  tell: (told: NetworkNews) => void,
): ((told: NetworkNews) => void) => {
  const known = new Set<string>();
  return (told) => {
    const key = `${told.host} ${told.port} ${told.allowed}`;
    if (known.has(key) || known.size >= MOST_TOLD) return;
    known.add(key);
    tell(told);
  };
};
