import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import { startDaemon } from './daemon.ts';
import { type DaemonHere, startHere } from './daemon-here.ts';
import { makeRepository, temporaryDirectory } from './repository.ts';

const DESCRIPTION = [
  'First:\n\n```sh\necho one > one.txt\n```\n',
  'Second:\n\n```sh\necho two > two.txt\n```\n',
  'Third:\n\n```sh\necho three > three.txt\n```\n',
].join('\n');

interface Planned {
  description?: string;
  provider?: string;
  /** Of workspace.md. */
  settings?: string;
  /** Its daemon is a process of its own, which can be ended by a command, and beside whose runs without a sandbox others call. */
  isApart?: boolean;
}

/** A daemon with one Work item whose plan waits, or is to be written, and the address of its page. */
export const withPlan = async (
  t: TestContext,
  { description = DESCRIPTION, provider = 'runbook', settings, isApart = false }: Planned = {},
) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  if (settings !== undefined)
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const start: typeof startHere = isApart ? apart : startHere;
  const daemon = await start(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const body = { title: 'Make files', type: 'bug', description };
  const { id } = await dossier.call('POST /cases', { body });
  const made = { type: 'implementing', provider };
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body: made });
  const at = { id, sid };
  const until = async (name: string): Promise<void> => {
    for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at))
      if (event === name) break;
  };
  if (provider === 'runbook') await until('plan_ready');
  const url = `${daemon.url}/dashboard/cases/${id}/sessions/${sid}/plan`;
  const fileOf = async (name: string): Promise<string> => {
    const { path } = await dossier.call('GET /cases/{id}/sessions/{sid}', at);
    return join(workspace, path, name);
  };
  return { daemon, workspace, root, dossier, at, url, until, fileOf };
};

const apart = async (t: TestContext, args: string[]): Promise<DaemonHere> => {
  const { url, end } = await startDaemon(t, args);
  return { url, end: async () => void (await end('SIGTERM')) };
};
