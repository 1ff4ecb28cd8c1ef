import { endDaemon } from '../connection/stop.ts';
import { verb } from './verb.ts';

/** `dossier stop`: the daemon of this workspace ends, and has ended once this has. */
export const stop = verb(async ({ config, pid, values, out }) => {
  await endDaemon(config, pid);
  if (values.json === true) out.json({ workspace: config.workspace, pid });
  else out.say(`The daemon of ${config.workspace} has ended`);
  return undefined;
});
