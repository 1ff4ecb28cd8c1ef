import type { Authority } from './authority.ts';
import type { WayRules } from './egress-policy.ts';
import type { AnswerMcp } from './mcp-door.ts';
import type { NetworkNews } from './proxy.ts';

/** What the doors of one run are opened with. */
export interface RunTask {
  /** Where its sockets are. */
  dir: string;
  /** The port inside that leads to the proxy. */
  port: number;
  rules: WayRules;
  /** The services of this machine that have a socket of their own. */
  inside: readonly Authority[];
  /** By which it is served MCP; undefined: it is not. */
  token: string | undefined;
}

export interface RunEvents {
  tell: (told: NetworkNews) => void;
  /** Answers a message that is in bounds, with the token of the run. */
  mcp: AnswerMcp;
  /** Called once if the doors cannot be opened, or have closed by themselves: the run reaches nothing any more. */
  lost: (reason: string) => void;
}

/** Where connections of runs are accepted and read: nothing that they send is read anywhere else. */
export interface Doors {
  /**
   * Returns what closes them, which resolves once all is told. The sockets are listened on some time later; the relay waits
   * for that.
   */
  open(task: RunTask, events: RunEvents): () => Promise<void>;
  /** A port of loopback that serves MCP to who has this token, and nothing else. */
  openPort(token: string, mcp: AnswerMcp): Promise<McpPort>;
}

export interface McpPort {
  port: number;
  close(): void;
}

/** How MCP messages of one run are answered, by the token that the run was given, and where they come in. */
export interface WithDoors {
  readonly mcp: (token: string | undefined) => AnswerMcp;
  readonly doors: Doors;
}

const MOST_TOLD = 200;

/** Passes on each goal once for each outcome, and no more than a bounded number of them. */
export const onceEach = (tell: (told: NetworkNews) => void): ((told: NetworkNews) => void) => {
  const known = new Set<string>();
  return (told) => {
    const key = `${told.host} ${told.port} ${told.allowed}`;
    if (known.has(key) || known.size >= MOST_TOLD) return;
    known.add(key);
    tell(told);
  };
};
