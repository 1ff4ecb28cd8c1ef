import type { VersionInfo } from '../store/records/system.ts';
import type { WithStore } from '../store/store.ts';
import type { IdempotencyStore } from '../store/workspace/idempotency.ts';
import type { WithProviders } from './agents/providers.ts';
import type { WithLanguageServers } from './code/language-server/running.ts';
import type { WithLeaving, WithSetups } from './code/worktrees/needs.ts';
import type { WithCodeHost } from './codehost/code-host.ts';
import type { WithConfig } from './config.ts';
import type { Feed } from './events/feed/feed.ts';
import type { Attention } from './events/inbox/attention.ts';
import type { WithDispatcher } from './events/webhooks/dispatcher.ts';
import type { WithAddress } from './events/webhooks/own-address.ts';
import type { WithConsoleSessions } from './guard/api-keys/console-sessions.ts';
import type { WithKeyring } from './guard/api-keys/keys.ts';
import type { WithLinks } from './host/links/background.ts';
import type { WithLog } from './log.ts';
import type { WithDoors } from './sandbox/egress/doors.ts';
import type { WithNetwork } from './sandbox/egress/networks.ts';
import type { WithSandbox } from './sandbox/sandbox.ts';
import type { WithGit } from './tools/git/run/git.ts';
import type { Callers } from './tools/process/caller.ts';
import type { WithRuns } from './tools/process/runs.ts';
import type { Exporter } from './transfer/export/exporter.ts';
import type { WithEngine } from './work/sessions/live/engine.ts';

/** What every handler receives. Functions below `routes/` declare the members that they need: `service: WithGit & WithStore`. */
export interface Service
  extends WithAddress,
    WithCodeHost,
    WithConfig,
    WithConsoleSessions,
    WithDispatcher,
    WithEngine,
    WithGit,
    WithKeyring,
    WithLanguageServers,
    WithLeaving,
    WithLinks,
    WithLog,
    WithDoors,
    WithNetwork,
    WithProviders,
    WithRuns,
    WithSandbox,
    WithSetups,
    WithStore {
  readonly version: VersionInfo;
  /** Resolves when the workspace was compared after the start, and interrupted work is recovered. */
  readonly started: Promise<void>;
  /** Answers a challenge: proves, to readers of owner.json, that this is the daemon of the workspace. */
  readonly prove: (challenge: string) => string;
  /** Called when the operator has trusted a setting. */
  readonly trusted: Set<() => void>;
  /** The inbox: entries that need the operator. */
  readonly attention: Attention;
  /** The event stream of the workspace. */
  readonly feed: Feed;
  readonly exporter: Exporter;
  /** The stored answers of requests with an Idempotency-Key. */
  readonly firstAnswers: IdempotencyStore;
  /** Whether the current settings require an API key with every call. */
  readonly requiresKey: () => boolean;
  /** Finds out which process is at the other end of a connection. */
  readonly callers: Callers;
}
