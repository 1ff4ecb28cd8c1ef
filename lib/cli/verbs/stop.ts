import { setTimeout as delay } from 'node:timers/promises';
import { dossierCommand } from '../../../store/base/text.ts';
import { layoutOf } from '../../../store/layout.ts';
import { holderOf } from '../../../store/workspace/daemon-lock.ts';
import type { Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { verb } from './verb.ts';

/** `dossier stop`: stops the daemon of this workspace, and waits until it has ended. */
export const stop = verb(async ({ config, pid, report }) => {
  await endDaemon(config, pid);
  report({ workspace: config.workspace, pid }, `Stopped the daemon of ${config.workspace}`);
});

const PATIENCE_MS = 60_000;
const LOOK_MS = 50;

/**
 * Sends SIGTERM to the daemon and waits until it has released the workspace. `pid` is the process that answered a challenge, so
 * a daemon that has replaced it is not affected. Throws a Refusal if the signal fails, or the daemon does not end.
 */
export const endDaemon = async ({ workspace }: Config, pid: number): Promise<void> => {
  const isHolder = (): boolean => holderOf(layoutOf(workspace))?.pid === pid;
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    throw new Refusal(`Process ${pid} cannot be stopped: ${(error as Error).message}`);
  }
  for (let left = PATIENCE_MS / LOOK_MS; left > 0; left -= 1) {
    if (!isHolder()) return;
    await delay(LOOK_MS);
  }
  throw new Refusal(
    `Process ${pid} received the signal to stop, but is still running. Read its log with ${dossierCommand('logs', workspace)}`,
  );
};
