import { signal } from '../../store/base/async.ts';
import { checkLockOrder } from '../../store/base/mutex.ts';
import { type OpenStore, openStore } from '../../store/open.ts';
import { unsandboxedRuns } from '../../store/pending/unsandboxed.ts';
import type { VersionInfo } from '../../store/records/system.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import { createIdempotencyStore } from '../../store/workspace/idempotency.ts';
import {
  closeLanguageServers,
  createLanguageServers,
  endServersIn,
  sweepLanguageServers,
} from '../code/language-server/servers.ts';
import { repairMovedWorktrees } from '../code/worktrees/inspect/repair-moved.ts';
import { createSetups } from '../code/worktrees/needs.ts';
import { finishInterruptedChanges } from '../code/worktrees/recovery/changes.ts';
import { endInterruptedSetups } from '../code/worktrees/setup/setup.ts';
import {
  clearForUnsandboxedRuns,
  removeLeftoverCopies,
  sweepSnapshots,
} from '../code/worktrees/setup/share-upkeep.ts';
import type { Config } from '../config.ts';
import { createFeed } from '../events/feed/feed.ts';
import { createAttention } from '../events/inbox/attention.ts';
import { createDispatcher } from '../events/webhooks/dispatcher.ts';
import { createConsoleSessions } from '../guard/api-keys/console-sessions.ts';
import { createKeyring } from '../guard/api-keys/keys.ts';
import { logUnconfirmedSessions } from '../guard/trust/trust.ts';
import {
  endLeftoverRuns,
  trackUnsandboxedRuns,
  unsandboxedRunsSettled,
} from '../guard/unsandboxed-runs.ts';
import { createLinkWork } from '../host/links/background.ts';
import { pauseImports } from '../host/links/import-run.ts';
import { FEEDBACK, reviewWords } from '../host/reviews/feedback-session.ts';
import type { Log } from '../log.ts';
import { serveRun } from '../mcp/serve.ts';
import { sweepSocketDirs } from '../sandbox/egress/socket-dir.ts';
import type { Service } from '../service.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import { createCallers } from '../tools/process/caller.ts';
import { cleanEnvironment, loginEnvironment } from '../tools/process/environment.ts';
import { announceHostLoopback } from '../tools/process/peer-daemons.ts';
import { RUN_VARIABLE } from '../tools/process/processes.ts';
import { createRuns, type Runs } from '../tools/process/runs.ts';
import { createExporter } from '../transfer/export/exporter.ts';
import { createAutocommit } from '../transfer/history/autocommit.ts';
import { recoverChecks } from '../work/checks/end.ts';
import { recoverConflicts } from '../work/conflicts/current.ts';
import { recoverRemovals } from '../work/conflicts/remove.ts';
import { recoverPlanning } from '../work/generate/turn.ts';
import { followUp } from '../work/proof/checklist.ts';
import { approveProvidedPlan } from '../work/sessions/lifecycle/approve.ts';
import { followCases } from '../work/sessions/lifecycle/follow-cases.ts';
import { startQueued } from '../work/sessions/lifecycle/launch.ts';
import { recoverSessions } from '../work/sessions/lifecycle/recover.ts';
import { createEngine } from '../work/sessions/live/engine.ts';
import { importInterruptedTurns } from '../work/sessions/turns/turn-repository.ts';
import {
  createCodeHost,
  createDoors,
  createNetworkFactory,
  createProvidersFactory,
  createSandboxFactory,
} from './dependencies.ts';
import { logProblems } from './system/diagnostics.ts';
import { reportSettingsProblems } from './system/settings-advice.ts';
import { createTrackedFilesCheck, refuseTrackedFiles } from './system/tracked-files.ts';

export interface Running {
  service: Service;
  open: OpenStore;
  /**
   * Compares the workspace with its files, starts deliveries and commits, and recovers interrupted sessions. Until then only
   * early routes answer. Call it once; close if it fails.
   */
  begin(): Promise<Begun>;
  /** Ends runs and deliveries, and closes the workspace. */
  close(): Promise<void>;
}

interface Begun {
  /** Resolves when the watcher is ready and earlier changes have produced their events. */
  watching: Promise<void>;
}

/** Opens the workspace and creates the service, which `begin` starts. Throws WorkspaceHeldError. */
export const startService = async (
  config: Config,
  log: Log,
  version: VersionInfo,
): Promise<Running> => {
  if (config.env.DOSSIER_FOLLOW_LOCKS === '1') checkLockOrder();
  const git = createGit({ env: cleanEnvironment(config.env), login: loginEnvironment(config.env) });
  await refuseTrackedFiles(git, { root: config.workspace });
  const open = await openWorkspace(config, log);
  const begun = signal();
  const started = begun.raised;
  const service = createService({ config, version, log, git, started }, open);
  const autocommit = createAutocommit(service);
  let beginning: Promise<Begun> | undefined;
  return {
    service,
    open,
    begin: () => {
      beginning ??= beginService(service, autocommit, open, begun.raise);
      return beginning;
    },
    close: async () => {
      await beginning?.catch(() => undefined);
      await closeService(service, autocommit, open);
    },
  };
};

const beginService = async (
  service: Service,
  autocommit: ReturnType<typeof createAutocommit>,
  open: OpenStore,
  begun: () => void,
): Promise<Begun> => {
  const { log } = service;
  const advise = (): void =>
    void reportSettingsProblems(service).catch((error: unknown) =>
      log.debug({ err: error }, 'settings check failed'),
    );
  await open.compare();
  logProblems(open.store, log);
  service.attention.start();
  service.dispatcher.start();
  autocommit.start();
  advise();
  await recover(service);
  followCases(service);
  begun();
  const lookForTracked = createTrackedFilesCheck(service);
  const { ready } = open.watch(() => {
    lookForTracked();
    service.dispatcher.changed();
    autocommit.globalsChanged();
    advise();
    sweepSnapshots(service).catch((error: unknown) =>
      log.error({ err: error }, 'deleting snapshots of shared directories failed'),
    );
    startQueued(service).catch((error: unknown) =>
      log.error({ err: error }, 'starting queued sessions failed'),
    );
  });
  return { watching: ready };
};

const closeService = async (
  service: Service,
  autocommit: ReturnType<typeof createAutocommit>,
  open: OpenStore,
): Promise<void> => {
  await service.exporter.close();
  await service.attention.close();
  await closeLanguageServers(service.languageServers);
  await Promise.all([service.engine.close(), service.setups.close(), service.links.close()]);
  await unsandboxedRunsSettled(service.store);
  await service.dispatcher.close();
  await autocommit.close();
  await open.close();
};

const openWorkspace = ({ workspace, state, trust }: Config, log: Log): Promise<OpenStore> =>
  openStore(workspace, {
    clock: () => new Date(),
    follow: followUp,
    report: (error, what) =>
      error === undefined ? log.warn({}, what) : log.error({ err: error }, what),
    state,
    trust,
  });

// Recovers what an earlier daemon left unfinished. Git changes of turns come first: later steps read worktrees and branches.
const recover = async (service: Service): Promise<void> => {
  // Read before any new run starts.
  const former = unsandboxedRuns(service.store);
  await sweepSocketDirs();
  await sweepLanguageServers(service);
  await repairMovedWorktrees(service);
  await finishInterruptedChanges(service);
  await importInterruptedTurns(service);
  await endInterruptedSetups(service);
  await removeLeftoverCopies(service);
  await sweepSnapshots(service);
  await recoverPlanning(service);
  await recoverChecks(service);
  await recoverConflicts(service);
  await recoverRemovals(service);
  await recoverSessions(service);
  await pauseImports(service.store);
  await endLeftoverRuns(service, former);
  await logUnconfirmedSessions(service);
};

const createService = (
  known: Pick<Service, 'config' | 'version' | 'log' | 'git' | 'started'>,
  { store, lock }: OpenStore,
): Service => {
  const { config, version, log } = known;
  const given = { ...known, store, prove: lock.prove };
  const runs = createRuns();
  trackUnsandboxedRuns(given, runs);
  clearForUnsandboxedRuns(given, runs);
  announceHostLoopback(runs);
  logLeftProcesses(runs, log);
  const sandbox = createSandboxFactory(given);
  const address: Service['address'] = { url: undefined };
  const mcp: Service['mcp'] = (token) => serveRun(service, token);
  const doors = createDoors({ address, config, log });
  const network = createNetworkFactory(given, { sandbox, doors, mcp });
  const service: Service = {
    ...given,
    sandbox,
    codeHost: createCodeHost(given),
    network,
    providers: createProvidersFactory(given, { sandbox, runs, network }),
    runs,
    engine: createEngine(store),
    setups: createSetups(),
    languageServers: createLanguageServers(),
    links: createLinkWork(),
    exporter: createExporter(store),
    feed: createFeed(store),
    attention: createAttention(store, () => service),
    firstAnswers: createIdempotencyStore(store),
    address,
    mcp,
    doors,
    leaving: new Set(),
    trusted: new Set(),
    dispatcher: createDispatcher({ store, log, version: version.version, own: () => address.url }),
    requiresKey: () => settingsOf(store).require_key === true,
    keyring: createKeyring(store, runs),
    consoleSessions: createConsoleSessions(store),
    callers: createCallers(runs, config.env[RUN_VARIABLE]),
  };
  return connectRooms(service);
};

// Registers callbacks of higher rooms with lower ones, which may not import them.
const connectRooms = (service: Service): Service => {
  service.engine.words.set(FEEDBACK, reviewWords(service.store));
  service.engine.over.add((kept) => approveProvidedPlan(service, kept));
  service.leaving.add((directory) => endServersIn(service.languageServers, directory));
  return service;
};

const logLeftProcesses = (runs: Runs, log: Log): void => {
  runs.onLeft(({ run: { marker }, sure, processes }) =>
    log.warn(
      { run: marker, processes },
      sure
        ? 'processes of a run could not be ended: end them by hand. Until then, calls that may come from them need an API key'
        : 'processes may have outlived a run: check them. Until they have ended, calls that may come from them need an API key',
    ),
  );
};
