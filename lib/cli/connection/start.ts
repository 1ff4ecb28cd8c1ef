import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Layout, layoutOf } from '../../../store/layout.ts';
import { holderOf } from '../../../store/workspace/daemon-lock.ts';
import { makeWorkspace } from '../../../store/workspace/workspace-files.ts';
import type { Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { daemonOf, type Reached } from './daemon.ts';
import { lastLines, openLog } from './daemon-log.ts';

/** `began`: by this call. */
export type Begun = Reached & { began: boolean };

const LOOK_MS = 50;

/**
 * The daemon of the workspace; where none runs one is begun, in a session of its own and without a terminal, with `flags`
 * for `dossier serve` and its log in `.dossier/`. Resolves once it has answered a challenge. Of several that are begun at
 * once one gets the workspace, and all have that one. Throws a Refusal with the last lines of the log where it has ended.
 */
export const daemonOrStart = async (
  config: Config,
  flags: readonly string[] = [],
): Promise<Begun> => {
  const found = await daemonOf(config);
  if (found !== undefined) return { ...found, began: false };
  const layout = layoutOf(config.workspace);
  // Another one that begins now is waited for.
  return (await whileHeld(config, layout)) ?? begin(config, layout, flags);
};

const whileHeld = async (config: Config, layout: Layout): Promise<Begun | undefined> => {
  while (holderOf(layout) !== undefined) {
    const found = await daemonOf(config);
    if (found !== undefined) return { ...found, began: false };
    await delay(LOOK_MS);
  }
  return undefined;
};

const begin = async (config: Config, layout: Layout, flags: readonly string[]): Promise<Begun> => {
  const { workspace } = config;
  const why = makeWorkspace(workspace);
  if (why !== undefined)
    throw new Refusal(`${workspace} ${why}. Give another directory with --workspace.`);
  const { child, from } = launch(config, layout, flags);
  let failed: Error | undefined;
  child.once('error', (error) => {
    failed = error;
  });
  while (failed === undefined && child.exitCode === null && child.signalCode === null) {
    const found = await daemonOf(config);
    if (found !== undefined) return { ...found, began: found.pid === child.pid };
    await delay(LOOK_MS);
  }
  const other = await whileHeld(config, layout);
  if (other !== undefined) return other;
  const said = failed === undefined ? lastLines(layout, from) : [failed.message];
  throw new Refusal(
    [
      `The daemon of ${workspace} has ended before it was ready; its log says (${layout.log}):`,
      ...said,
    ]
      .join('\n  ')
      .trimEnd(),
  );
};

// Not in the directory of whoever asks, which may go; what was relative there is said in whole.
const launch = ({ workspace, repo, env }: Config, layout: Layout, flags: readonly string[]) => {
  const { fd, from } = openLog(layout);
  const [, program = ''] = process.argv;
  const child = spawn(process.execPath, [program, 'serve', '--workspace', workspace, ...flags], {
    cwd: workspace,
    env: { ...env, ...(env.DOSSIER_REPO !== undefined && { DOSSIER_REPO: repo }) },
    detached: true,
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  child.unref();
  return { child, from };
};
