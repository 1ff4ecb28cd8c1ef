import type { Config } from '../config.ts';
import type { Call } from './args/command.ts';
import type { OptionName, Values } from './args/options.ts';
import { Refusal } from './args/refusal.ts';
import { browserOpener, openWith } from './connection/browser.ts';
import { type ProjectHere, projectHere } from './connection/project.ts';
import { asRefused } from './connection/refused.ts';
import { type Begun, daemonOrStart } from './connection/start.ts';
import { beginHistory } from './init.ts';
import { isTerminal, toStandardOutput as say, sayJson } from './output/terminal.ts';

/**
 * Finds the daemon of the workspace or begins one in the background, makes the repository of this directory a project of
 * it, and says where it listens.
 */
export const up = async ({ config, values }: Call): Promise<number> => {
  const flags = flagsOf(values);
  const json = values.json === true;
  await beginHistory(config);
  const begun = await daemonOrStart(config, flags);
  refuseFlags(begun, config.workspace, flags);
  const { url, pid, began } = begun;
  const { workspace } = config;
  if (json) {
    const project = (await hereIn(config, begun)) ?? null;
    sayJson(say, { url, pid, began, workspace, project });
    return 0;
  }
  say(`Dossier is ready: ${url}/dashboard (workspace ${workspace})`);
  await tellProject(config, begun);
  const opener = values['no-open'] === true ? undefined : browserOpener(config.env, isTerminal());
  if (opener !== undefined) await openWith(opener, `${url}/dashboard`);
  return 0;
};

const OF_THE_START: readonly OptionName[] = [
  ...(['host', 'port', 'socket', 'state-dir', 'dev', 'trust', 'log-level'] as const),
];

const flagsOf = (values: Values): string[] =>
  OF_THE_START.flatMap((name) => {
    const value = values[name];
    if (typeof value === 'string') return [`--${name}`, value];
    return value === true ? [`--${name}`] : [];
  });

const refuseFlags = ({ began, pid }: Begun, workspace: string, [flag]: readonly string[]): void => {
  if (began || flag === undefined) return;
  throw new Refusal(
    `A daemon runs on ${workspace} already (process ${pid}), and ${flag} is for one that starts. Leave it out, or end that one first: dossier stop --workspace ${workspace}`,
  );
};

const tellProject = async (config: Config, begun: Begun): Promise<void> => {
  const here = await hereIn(config, begun);
  if (here === undefined)
    return say(
      `${directoryOf(config)} is in no git repository: call dossier in one to work on it.`,
    );
  const how = here.added ? 'was added' : 'is known';
  say(`Project ${here.name}: ${here.path} (${how})`);
};

const directoryOf = ({ repo }: Config): string => repo ?? process.cwd();

const hereIn = async (config: Config, { dossier }: Begun): Promise<ProjectHere | undefined> => {
  try {
    return await projectHere(config, { dossier, directory: directoryOf(config), add: true });
  } catch (error) {
    throw asRefused(error, config, {});
  }
};
