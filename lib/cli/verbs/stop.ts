import { verb } from './verb.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { layoutOf } from '../../../store/layout.ts';
import { holderOf } from '../../../store/workspace/daemon-lock.ts';
import type { Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';

/** `dossier stop`: the daemon of this workspace ends, and has ended once this has. */
export const stop = verb(async ({ config, pid, values, out }) => {
  await endDaemon(config, pid);
  if (values.json === true) out.json({ workspace: config.workspace, pid });
  else out.say(`The daemon of ${config.workspace} has ended`);
  return undefined;
});

const PATIENCE_MS = 60_000;
const LOOK_MS = 50;

/**
 * Asks the daemon that holds the workspace to end, and waits until it has. `pid`: of the one that answered a challenge; should
 * another have taken over since, that is left alone. Throws a Refusal where it may not be asked, or does not end.
 */
const endDaemon = async ({ workspace }: Config, pid: number): Promise<void> => {
  const holds = (): boolean => holderOf(layoutOf(workspace))?.pid === pid;
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    throw new Refusal(
      `Process ${pid} cannot be asked to end from here: ${(error as Error).message}`,
    );
  }
  for (let left = PATIENCE_MS / LOOK_MS; left > 0; left -= 1) {
    if (!holds()) return;
    await delay(LOOK_MS);
  }
  throw new Refusal(`Process ${pid} was asked to end, and has not yet. Its log may say why`);
};
