import { followLocks } from '../../store/base/mutex.ts';
import { type OpenStore, openStore } from '../../store/open.ts';
import type { VersionInfo } from '../../store/records/version.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import { createFirstAnswers } from '../../store/workspace/idempotency.ts';
import {
  closeLanguageServers,
  createLanguageServers,
  endServersIn,
  sweepLanguageServers,
} from '../code/language-server/servers.ts';
import { followMove } from '../code/worktrees/inspect/repair-moved.ts';
import { createSetups } from '../code/worktrees/needs.ts';
import { finishChanges } from '../code/worktrees/recovery/changes.ts';
import { endInterruptedSetups } from '../code/worktrees/setup/setup.ts';
import type { Config } from '../config.ts';
import { createFeed } from '../events/feed/feed.ts';
import { createAttention } from '../events/inbox/attention.ts';
import { createDispatcher } from '../events/webhooks/dispatcher.ts';
import { createConsoleSessions } from '../guard/api-keys/console-sessions.ts';
import { createKeyring } from '../guard/api-keys/keys.ts';
import { tellUnconfirmed } from '../guard/trust/trust.ts';
import { endFormerRuns, followRuns, formerRuns, gateAtRest } from '../guard/unsandboxed-runs.ts';
import { pauseImports } from '../host/links/import-run.ts';
import { createLinkWork } from '../host/links/background.ts';
import { FEEDBACK, reviewWords } from '../host/reviews/feedback-session.ts';
import type { Log } from '../log.ts';
import { serveRun } from '../mcp/serve.ts';
import { sweepSocketDirs } from '../sandbox/egress/socket-dir.ts';
import type { Service } from '../service.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import { createCallers } from '../tools/process/caller.ts';
import { cleanEnvironment, loginEnvironment } from '../tools/process/environment.ts';
import { announceRuns } from '../tools/process/peer-daemons.ts';
import { RUN_VARIABLE } from '../tools/process/processes.ts';
import { createRuns, type Runs } from '../tools/process/runs.ts';
import { createExporter } from '../transfer/export/exporter.ts';
import { createAutocommit } from '../transfer/history/autocommit.ts';
import { recoverChecks } from '../work/checks/end.ts';
import { recoverConflicts } from '../work/conflicts/current.ts';
import { recoverPlanning } from '../work/generate/turn.ts';
import { followUp } from '../work/proof/checklist.ts';
import { approveGiven } from '../work/sessions/lifecycle/approve.ts';
import { followCases } from '../work/sessions/lifecycle/follow-cases.ts';
import { wakeQueue } from '../work/sessions/lifecycle/launch.ts';
import { recoverSessions } from '../work/sessions/lifecycle/recover.ts';
import { createEngine } from '../work/sessions/live/engine.ts';
import { takeInInterrupted } from '../work/sessions/turns/turn-repository.ts';
import { codeHostOf, doorsOf, networkOf, providersOf, sandboxOf } from './by-settings.ts';
import { logProblems } from './system/problem-log.ts';
import { tellAdvice } from './system/settings-advice.ts';
import { createTrackedLook, refuseTracked } from './system/tracked.ts';

export interface Running {
  service: Service;
  open: OpenStore;
  /** Resolves when the files are watched, and what changed before that has made its events. */
  watching: Promise<void>;
  /** Ends runs and deliveries, and writes nothing that they have not said themselves. */
  close(): Promise<void>;
}

/**
 * Opens the workspace and starts all that works on it, in this order: the files as they are, with the events of what
 * changed while no daemon ran; deliveries; commits; what sessions left behind. Throws WorkspaceHeldError.
 */
export const startService = async (
  config: Config,
  log: Log,
  version: VersionInfo,
): Promise<Running> => {
  if (config.env.DOSSIER_FOLLOW_LOCKS === '1') followLocks();
  const git = createGit({ env: cleanEnvironment(config.env), login: loginEnvironment(config.env) });
  await refuseTracked(git, { root: config.workspace });
  const open = await openFor(config, log);
  logProblems(open.store, log);
  const service = compose({ config, version, log, git }, open);
  const autocommit = createAutocommit(service);
  const advise = (): void =>
    void tellAdvice(service).catch((error: unknown) =>
      log.debug({ err: error }, 'The settings were not looked through'),
    );
  const lookForTracked = createTrackedLook(service);
  const changed = (): void => {
    lookForTracked();
    service.dispatcher.changed();
    autocommit.globalsChanged();
    advise();
  };
  service.dispatcher.start();
  autocommit.start();
  advise();
  const close = closing(service, autocommit, open);
  await takeUp(service).catch(async (error: unknown) => {
    await close().catch(() => undefined);
    throw error;
  });
  followCases(service);
  const attention = open.watch(() => {
    changed();
    wakeQueue(service).catch((error: unknown) =>
      log.error({ err: error }, 'The queue was not looked at'),
    );
  });
  return { service, open, watching: attention.ready, close };
};

const closing =
  (
    service: Service,
    autocommit: ReturnType<typeof createAutocommit>,
    open: OpenStore,
  ): Running['close'] =>
  async () => {
    await service.exporter.close();
    service.attention.close();
    await closeLanguageServers(service.languageServers);
    await Promise.all([service.engine.close(), service.setups.close(), service.links.close()]);
    await gateAtRest(service.store);
    await service.dispatcher.close();
    await autocommit.close();
    await open.close();
  };

const openFor = ({ workspace, state, trust }: Config, log: Log): Promise<OpenStore> =>
  openStore(workspace, {
    clock: () => new Date(),
    follow: followUp,
    report: reportTo(log),
    ...{ state, trust },
  });

// What a former life of the daemon left; first what turns did with git: what follows looks at worktrees and branches.
const takeUp = async (service: Service): Promise<void> => {
  const former = formerRuns(service.store);
  await sweepSocketDirs();
  await sweepLanguageServers(service);
  await followMove(service);
  await finishChanges(service);
  await takeInInterrupted(service);
  await endInterruptedSetups(service);
  await recoverPlanning(service);
  await recoverChecks(service);
  await recoverConflicts(service);
  await recoverSessions(service);
  await pauseImports(service.store);
  await endFormerRuns(service, former);
  tellUnconfirmed(service);
};

const compose = (
  started: Pick<Service, 'config' | 'version' | 'log' | 'git'>,
  { store, lock }: OpenStore,
): Service => {
  const { config, version, log } = started;
  const given = { ...started, store, prove: lock.prove };
  const settings = () => settingsOf(store);
  const runs = createRuns();
  followRuns(given, runs);
  announceRuns(runs);
  tellWhatIsLeft(runs, log);
  const sandbox = sandboxOf(config, settings);
  const address: Service['address'] = { url: undefined };
  const mcp: Service['mcp'] = (token) => serveRun(service)(token);
  const doors = doorsOf({ address, config, log });
  const network = networkOf(config, settings, { sandbox, doors, mcp });
  const service: Service = {
    ...given,
    sandbox,
    codeHost: codeHostOf(given, settings),
    network,
    providers: providersOf(given, settings, { sandbox, runs, network }),
    runs,
    engine: createEngine(store),
    setups: createSetups(),
    languageServers: createLanguageServers(),
    links: createLinkWork(),
    exporter: createExporter(store),
    feed: createFeed(store),
    attention: createAttention(store, () => service),
    firstAnswers: createFirstAnswers(store),
    address,
    mcp,
    doors,
    leaving: new Set(),
    trusted: new Set(),
    dispatcher: createDispatcher({ store, log, version: version.version, own: () => address.url }),
    requiresKey: () => settings().require_key === true,
    keyring: createKeyring(store, runs),
    consoleSessions: createConsoleSessions(store),
    callers: createCallers(runs, config.env[RUN_VARIABLE]),
  };
  return connect(service);
};

// What a room does for one below it, which does not know it.
const connect = (service: Service): Service => {
  service.engine.words.set(FEEDBACK, (kept) => reviewWords(service.store, kept));
  service.engine.over.add((kept) => approveGiven(service, kept));
  service.leaving.add((directory) => endServersIn(service.languageServers, directory));
  return service;
};

const tellWhatIsLeft = (runs: Runs, log: Log): void => {
  runs.onLeft(({ run: { marker }, sure, processes }) =>
    log.warn(
      { run: marker, processes },
      sure
        ? 'Processes of a run could not be ended: end them by hand. Until then only callers that are surely not of it are let in'
        : 'Processes outlived a run and may be of it: look at them. Until they have ended only callers that are surely not of it are let in',
    ),
  );
};

const reportTo =
  (log: Log) =>
  (error: unknown, what: string): void => {
    if (error === undefined) log.warn({}, what);
    else log.error({ err: error }, what);
  };
