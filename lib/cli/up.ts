import type { Config } from '../config.ts';
import type { Call } from './args/command.ts';
import type { OptionName, Values } from './args/options.ts';
import { Refusal } from './args/refusal.ts';
import { browserOpener, openWith } from './connection/browser.ts';
import { findProjectHere, type ProjectHere } from './connection/project.ts';
import { toRefusal } from './connection/refused.ts';
import { type FoundDaemon, findOrStartDaemon } from './connection/start.ts';
import { createWorkspaceRepository } from './init.ts';
import { isTerminal, toStandardOutput as say, sayJson } from './output/terminal.ts';

/**
 * `dossier up`, and `dossier` alone: finds the daemon or starts one in the background, adds the repository of this directory
 * as a project, and prints the address.
 */
export const up = async ({ config, values }: Call): Promise<number> => {
  const flags = flagsOf(values);
  const json = values.json === true;
  await createWorkspaceRepository(config);
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
  await tellProject(config, found);
  const opener = values['no-open'] === true ? undefined : browserOpener(config.env, isTerminal());
  if (opener !== undefined) await openWith(opener, `${url}/dashboard`);
  return 0;
};

const OF_THE_START: readonly OptionName[] = [
  'host',
  'port',
  'socket',
  'state-dir',
  'dev',
  'trust',
  'log-level',
];

const flagsOf = (values: Values): string[] =>
  OF_THE_START.flatMap((name) => {
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
    `A daemon of ${workspace} is already running (process ${pid}), and ${flag} only applies to a new one. Leave it out, or stop the daemon first: dossier stop --workspace ${workspace}`,
  );
};

const tellProject = async (config: Config, found: FoundDaemon): Promise<void> => {
  const here = await hereIn(config, found);
  if (here === undefined)
    return say(
      `${directoryOf(config)} is not in a git repository. Run dossier in one to add it as a project.`,
    );
  const how = here.added ? 'added' : 'existing';
  say(`Project ${here.name}: ${here.path} (${how})`);
};

const directoryOf = ({ repo }: Config): string => repo ?? process.cwd();

const hereIn = async (
  config: Config,
  { dossier }: FoundDaemon,
): Promise<ProjectHere | undefined> => {
  try {
    return await findProjectHere(config, { dossier, directory: directoryOf(config), add: true });
  } catch (error) {
    throw toRefusal(error, config, {});
  }
};
