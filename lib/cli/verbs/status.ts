import { verb } from './verb.ts';

/** `dossier status`: shows the daemon of the workspace, and the number of inbox entries. */
export const status = verb(async ({ dossier, config, url, socket, pid, values, out, typed }) => {
  const [{ version }, waiting] = await Promise.all([
    dossier.call('GET /version'),
    dossier.call('GET /attention'),
  ]);
  const { workspace } = config;
  const waits = waiting.length;
  if (values.json === true)
    return void out.json({ url, socket, pid, workspace, version, waiting: waits });
  out.table([
    ['Daemon', `${url}, process ${pid}`],
    ...(socket === undefined ? [] : [['Socket', socket]]),
    ['Workspace', workspace],
    ['Version', version],
    ['Inbox', waits === 0 ? 'empty' : `${waits}: ${typed('inbox')}`],
  ]);
});
