import type { FirstAnswers } from '../store/first-answers.ts';
import type { Store } from '../store/store.ts';
import type { Providers } from './agents/providers.ts';
import type { LanguageServers } from './code/language-server/running.ts';
import type { Setups } from './code/worktrees/setup/setups.ts';
import type { CodeHost } from './codehost/code-host.ts';
import type { Config } from './config.ts';
import type { ConsoleSessions } from './guard/api-keys/console-sessions.ts';
import type { Keyring } from './guard/api-keys/keyring.ts';
import type { LinkWork } from './host/links/work.ts';
import type { Log } from './log.ts';
import type { Attention } from './out/attention/attention.ts';
import type { Exporter } from './out/export/exporter.ts';
import type { Feed } from './out/feed/feed.ts';
import type { Dispatcher } from './out/webhooks/dispatcher.ts';
import type { AnswerMcp } from './sandbox/egress/mcp-door.ts';
import type { NetworkDoor } from './sandbox/egress/networks.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Git } from './tools/git/run/git.ts';
import type { Callers } from './tools/process/caller.ts';
import type { Runs } from './tools/process/runs.ts';
import type { Engine } from './work/sessions/live/engine.ts';

/** What every handler and every rule is given. */
export interface Service {
  readonly config: Config;
  readonly version: VersionInfo;
  readonly log: Log;
  readonly store: Store;
  readonly git: Git;
  /** The providers as the settings name them now. */
  readonly providers: () => Providers;
  /** The code host, with the token of its own program or of the environment. Asks nobody until it is asked. */
  readonly codeHost: () => CodeHost;
  /** What programs are shut in with, as the settings want it now. */
  readonly sandbox: () => Sandbox;
  /** How programs in the sandbox reach the network, as the settings of all want it now. */
  readonly network: () => NetworkDoor;
  /** How messages at the door of one run are answered, by the token that the run was given. */
  readonly mcp: (token: string | undefined) => AnswerMcp;
  /** Where the API is reached; undefined until it listens. */
  readonly address: { url: string | undefined };
  /** Every program of a run that is alive, whatever it was started for. */
  readonly runs: Runs;
  /** The sessions that are going on. */
  readonly engine: Engine;
  /** The worktrees that are being set up. */
  readonly setups: Setups;
  /** The language servers that run, each shared by all who edit the same files. */
  readonly languageServers: LanguageServers;
  /** Whoever has programs in directories: ends those in one that is about to be removed. */
  readonly leaving: Set<(directory: string) => Promise<void>>;
  /** Who hears that the operator has trusted something. */
  readonly trusted: Set<() => void>;
  /** The imports that are going on, and whether all Work items are being synced. */
  readonly links: LinkWork;
  readonly dispatcher: Dispatcher;
  /** What needs the operator now. */
  readonly attention: Attention;
  /** All that happens, for whoever follows. */
  readonly feed: Feed;
  readonly exporter: Exporter;
  /** What was answered to calls that are made once. */
  readonly firstAnswers: FirstAnswers;
  /** Whether every call has to show an API key, as the settings want it now. */
  readonly requiresKey: () => boolean;
  /** Which keys count. */
  readonly keyring: Keyring;
  /** The browsers that have shown one. */
  readonly consoleSessions: ConsoleSessions;
  /** Who is at the other end of a connection to the API. */
  readonly callers: Callers;
}

/** What is running. */
export interface VersionInfo {
  name: string;
  version: string;
  /** The OpenAPI version of the document at /openapi.json. */
  api: string;
  node: string;
  platform: string;
  /** Of the source that was built; null when it was not built in a repository. */
  commit: string | null;
  built_at: string | null;
}
