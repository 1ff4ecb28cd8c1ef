import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import type { WithLog } from '../../log.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { WithSandbox } from '../../sandbox/sandbox.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithRuns } from '../../tools/process/runs.ts';
import type { LanguageServer } from './server.ts';

/** The language servers that run: one for each language and directory, whoever asks. */
export interface LanguageServers {
  readonly running: Map<string, RunningServer>;
  readonly limits: ServerLimits;
  closed: boolean;
}

export interface ServerLimits {
  ready_ms: number;
  slow_ms: number;
  /** How long an editor may leave a request of the server's unanswered. */
  patience_ms: number;
  /** How long a server goes on without clients. */
  idle_ms: number;
  /** How long an answer over HTTP may take. */
  answer_ms: number;
  /** The pause after a server ended by itself for the second time; each further one is twice as long, up to a minute. */
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

/** The language servers that run, each shared by all who edit the same files. */
export interface WithLanguageServers {
  readonly languageServers: LanguageServers;
}

/** What most of this room's work is given. */
export type LanguageServerNeeds = WithConfig &
  WithGit &
  WithLanguageServers &
  WithLog &
  WithNetwork &
  WithRuns &
  WithSandbox &
  WithStore;
