import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Layout, layoutOf } from '../../../store/layout.ts';
import { holderOf } from '../../../store/workspace/daemon-lock.ts';
import type { Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { type DaemonConnection, findDaemon, requireWorkspace } from './daemon.ts';
import { lastLines, openLog } from './daemon-log.ts';

/** `began`: whether this call started it. */
export type FoundDaemon = DaemonConnection & { began: boolean };

const LOOK_MS = 50;

/**
 * Finds the daemon of the workspace, or starts one in the background with `flags` for `dossier serve`. Resolves once it has
 * answered a challenge. If several are started at once, one gets the workspace and all callers get that one. Throws a
 * Refusal with the last lines of the log if it has exited.
 */
export const findOrStartDaemon = async (
  config: Config,
  flags: readonly string[] = [],
): Promise<FoundDaemon> => {
  const layout = layoutOf(config.workspace);
  return (await waitForDaemon(config, layout)) ?? begin(config, layout, flags);
};

/** The same for a command that needs a workspace with Work items: throws NoDaemon if there is none, and creates none. */
export const findOrStartInWorkspace = async (config: Config): Promise<FoundDaemon> => {
  requireWorkspace(config);
  return findOrStartDaemon(config);
};

// A daemon that has the workspace may be starting.
const waitForDaemon = async (config: Config, layout: Layout): Promise<FoundDaemon | undefined> => {
  while (holderOf(layout) !== undefined) {
    const found = await findDaemon(config);
    if (found !== undefined) return { ...found, began: false };
    await delay(LOOK_MS);
  }
  return undefined;
};

const begin = async (
  config: Config,
  layout: Layout,
  flags: readonly string[],
): Promise<FoundDaemon> => {
  const { workspace } = config;
  // Loaded here, because most calls find a daemon.
  const { createWorkspaceRepository } = await import('../init.ts');
  await createWorkspaceRepository(config);
  const { child, from } = launch(config, layout, flags);
  let failed: Error | undefined;
  child.once('error', (error) => {
    failed = error;
  });
  while (failed === undefined && child.exitCode === null && child.signalCode === null) {
    const found = await findDaemon(config);
    if (found !== undefined) return { ...found, began: found.pid === child.pid };
    await delay(LOOK_MS);
  }
  const other = await waitForDaemon(config, layout);
  if (other !== undefined) return other;
  const said = failed === undefined ? lastLines(layout, from) : [failed.message];
  throw new Refusal(
    [`The daemon of ${workspace} exited before it was ready. Its log (${layout.log}):`, ...said]
      .join('\n  ')
      .trimEnd(),
  );
};

// Starts in the workspace, because the current directory may be removed. A relative DOSSIER_REPO is made absolute.
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
