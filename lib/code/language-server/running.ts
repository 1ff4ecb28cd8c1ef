import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import type { WithLog } from '../../log.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { WithSandbox } from '../../sandbox/sandbox.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithRuns } from '../../tools/process/runs.ts';
import type { LanguageServer, Patience } from './server.ts';

/** The running language servers: one for each language and directory. */
export interface LanguageServers {
  readonly running: Map<string, RunningServer>;
  readonly limits: ServerLimits;
  closed: boolean;
}

export interface ServerLimits extends Patience {
  /** How long a server runs without clients. */
  idle_ms: number;
  /** How long a response over HTTP may take. */
  answer_ms: number;
  /** The pause after the second crash of a server; doubles with each further crash, up to a minute. */
  pause_ms: number;
  most: number;
}

export interface RunningServer {
  root: string;
  server: LanguageServer | undefined;
  opening: Promise<LanguageServer> | undefined;
  failures: number;
  not_before: number;
  last_words: string;
  idle: NodeJS.Timeout | undefined;
}

export interface WithLanguageServers {
  readonly languageServers: LanguageServers;
}

/** The services that operations on language servers take. */
export type LanguageServerNeeds = WithConfig &
  WithGit &
  WithLanguageServers &
  WithLog &
  WithNetwork &
  WithRuns &
  WithSandbox &
  WithStore;
