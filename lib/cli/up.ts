import { setTimeout as delay } from 'node:timers/promises';
import { dossierCommand } from '../../store/base/text.ts';
import { layoutOf } from '../../store/layout.ts';
import { holderOf } from '../../store/workspace/daemon-lock.ts';
import type { Config } from '../config.ts';
import type { Call } from './args/command.ts';
import { SERVING, type Values } from './args/options.ts';
import { Refusal } from './args/refusal.ts';
import { shellCommand } from './args/shell-command.ts';
import { browserOpener, openWith } from './connection/browser.ts';
import { startCommand } from './connection/daemon.ts';
import { findProjectHere, type ProjectHere } from './connection/project.ts';
import { toRefusal } from './connection/refused.ts';
import { type FoundDaemon, findOrStartDaemon } from './connection/start.ts';
import { askForSettings, askForWorkspace, isNewWorkspace } from './first-run.ts';
import { isTerminal, toStandardOutput as say, sayJson } from './output/terminal.ts';
import { endDaemon } from './verbs/stop.ts';

/**
 * `dossier up`, and `dossier` alone: finds the daemon or starts one in the background, adds the repository of this directory
 * as a project, and prints the address.
 */
export const up = async ({ config: given, values }: Call): Promise<number> => {
  const flags = flagsOf(values);
  const json = values.json === true;
  const asks = !json && isTerminal() && isNewWorkspace(given);
  const config = asks ? await askForWorkspace(given, isWorkspaceNamed(given, values)) : given;
  const found = await findOrStartDaemon(config, flags);
  refuseFlags(found, config.workspace, flags);
  const { url, pid, began } = found;
  const { workspace } = config;
  if (json) {
    const project = (await hereIn(config, found)) ?? null;
    sayJson(say, { url, pid, began, workspace, project });
    return 0;
  }
  say(`Dossier is ready: ${url}/dashboard (workspace ${workspace})`);
  const here = await showProject(config, found);
  if (asks) await askForSettings(found.dossier, here?.path);
  await openConsole(config, found, here, values);
  return isUnderNpx(config) && began ? untilStopped(config, pid) : 0;
};

const isWorkspaceNamed = ({ env }: Config, { workspace }: Values): boolean =>
  Boolean(workspace ?? env.DOSSIER_WORKSPACE);

// The page for a first Work item, as long as there is none.
const openConsole = async (
  config: Config,
  found: FoundDaemon,
  here: ProjectHere | undefined,
  values: Values,
): Promise<void> => {
  if (!isTerminal()) return;
  const { url, dossier } = found;
  const [first] = await dossier.call('GET /cases', { query: { limit: 1, fields: 'title' } });
  if (first === undefined) {
    say(`Next: ${shellCommand(config, 'run "What should be done?"')}`);
    if (here !== undefined) await offerAdoption(config, found, here);
  }
  const opener = values['no-open'] === true ? undefined : browserOpener(config.env, true);
  const page = first === undefined ? '/dashboard/new' : '/dashboard';
  if (opener !== undefined) await openWith(opener, `${url}${page}`);
};

// What was begun without Dossier. Where that cannot be read, `dossier adopt` says why.
const offerAdoption = async (
  config: Config,
  { dossier }: FoundDaemon,
  { name }: ProjectHere,
): Promise<void> => {
  const asked = dossier.call('GET /api/adoptable', { query: { project: name } });
  const found = await asked.catch(() => undefined);
  const count = found && found.sessions.length + found.worktrees.length + found.branches.length;
  if (count)
    say(
      `Or continue earlier work in this repository (${count} found): ${shellCommand(config, 'adopt')}`,
    );
};

const isUnderNpx = ({ env }: Config): boolean => env.npm_command === 'exec';

// Under npx the program may be removed at any time, so the daemon does not outlive the command.
const untilStopped = async (config: Config, pid: number): Promise<number> => {
  say('Ctrl-C stops the daemon. To keep it running in the background, install dossierd.');
  const ended = new AbortController();
  const stop = (): void => ended.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  while (!ended.signal.aborted && holderOf(layoutOf(config.workspace))?.pid === pid)
    await delay(LOOK_MS, undefined, { signal: ended.signal }).catch(() => undefined);
  if (ended.signal.aborted) await endDaemon(config, pid);
  return 0;
};

const LOOK_MS = 500;

const flagsOf = (values: Values): string[] =>
  (Object.keys(SERVING) as (keyof typeof SERVING)[]).flatMap((name) => {
    const value = values[name];
    if (typeof value === 'string') return [`--${name}`, value];
    return value === true ? [`--${name}`] : [];
  });

const refuseFlags = (
  { began, pid }: FoundDaemon,
  workspace: string,
  [flag]: readonly string[],
): void => {
  if (began || flag === undefined) return;
  throw new Refusal(
    `A daemon of ${workspace} is already running (process ${pid}), and ${flag} only applies to a new one. Leave it out, or stop the daemon first: ${dossierCommand('stop', workspace)}`,
  );
};

const showProject = async (
  config: Config,
  found: FoundDaemon,
): Promise<ProjectHere | undefined> => {
  const here = await hereIn(config, found);
  if (here === undefined)
    say(
      `${directoryOf(config)} is not in a code repository. Run ${startCommand(config)} in one to add it as a project.`,
    );
  else say(`Project ${here.name}: ${here.path} (${here.added ? 'added' : 'existing'})`);
  return here;
};

const directoryOf = ({ repo }: Config): string => repo ?? process.cwd();

const hereIn = async (
  config: Config,
  { dossier }: FoundDaemon,
): Promise<ProjectHere | undefined> => {
  try {
    return await findProjectHere(config, dossier, directoryOf(config));
  } catch (error) {
    throw toRefusal(error, config, {});
  }
};
