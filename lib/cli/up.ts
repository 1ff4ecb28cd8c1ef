import { NoConnection, Problem } from '../client/client.ts';
import type { Call } from './line/command.ts';
import type { OptionName, Values } from './line/options.ts';
import { Refusal } from './line/refusal.ts';
import { browserOpener, openWith } from './reach/browser.ts';
import { projectHere } from './reach/project.ts';
import { type Begun, daemonOrStart } from './reach/start.ts';
import { isTerminal, toStandardOutput as say } from './show/terminal.ts';

/**
 * Finds the daemon of the workspace or begins one in the background, makes the repository of this directory a project of
 * it, and says where it listens.
 */
export const up = async ({ config, values }: Call): Promise<number> => {
  const flags = flagsOf(values);
  const begun = await daemonOrStart(config, flags);
  refuseFlags(begun, config.workspace, flags);
  say(`Dossier is ready: ${begun.url}/dashboard (workspace ${config.workspace})`);
  await tellProject({ config, values }, begun);
  const opener = values['no-open'] === true ? undefined : browserOpener(config.env, isTerminal());
  if (opener !== undefined) await openWith(opener, `${begun.url}/dashboard`);
  return 0;
};

const OF_THE_START = ['host', 'port', 'socket', 'dev', 'trust', 'log-level'] as const;

const flagsOf = (values: Values): string[] =>
  OF_THE_START.flatMap((name: OptionName) => {
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

const tellProject = async (
  { config }: Pick<Call, 'config' | 'values'>,
  { dossier }: Begun,
): Promise<void> => {
  const directory = config.repo ?? process.cwd();
  try {
    const here = await projectHere(config, { dossier, directory, add: true });
    if (here === undefined)
      return say(`${directory} is in no git repository: call dossier in one to work on it.`);
    const how = here.added ? 'was added' : 'is known';
    say(`Project ${here.name}: ${here.path} (${how})`);
  } catch (error) {
    if (error instanceof Problem || error instanceof NoConnection) throw new Refusal(error.message);
    throw error;
  }
};
