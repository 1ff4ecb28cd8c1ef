import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import { startHere } from './daemon-here.ts';
import { makeRepository, temporaryDirectory, writeFiles } from './repository.ts';
import { withAgent } from './sessions.ts';

const PLAN = '# Release\n\n```sh\nnpm ci\nnpm test # all\nnpm publish\n```\n';

/** A daemon whose agent has planned three commands, and asks for `npm test` and `npm publish` once it works. */
export const withPlannedAgent = async (t: TestContext) => {
  const { settings, env } = withAgent(t, 'planned', 'auto');
  const home = env?.HOME ?? '';
  const commands = [{ command: 'npm test' }, { command: 'npm publish' }];
  const files = { 'plan.md': PLAN, 'commands.json': JSON.stringify(commands) };
  writeFiles(join(home, '.test-agent'), files);
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root], { HOME: home });
  const api = connect({ url });
  const body = { title: 'Release it', type: 'chore', description: 'Release.' };
  const { id } = await api.call('POST /cases', { body });
  const made = { type: 'implementing' };
  const { id: sid } = await api.call('POST /cases/{id}/sessions', { id, body: made });
  const at = { id, sid };
  const until = async (name: string): Promise<void> => {
    for await (const { event } of api.stream('GET /cases/{id}/sessions/{sid}/stream', at))
      if (event === name) break;
  };
  await until('plan_ready');
  const boundary = () => api.call('GET /cases/{id}/sessions/{sid}/boundary', at);
  const session = () => api.call('GET /cases/{id}/sessions/{sid}', at);
  const isSandboxed = (await boundary()).sandbox === 'bubblewrap';
  return { api, at, url, workspace, until, boundary, session, isSandboxed };
};
