/** A real process, killed while messages wait, and while an agent has one. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { withAgent } from '../helpers/sessions.ts';

describe('a daemon that is killed with messages to a session', () => {
  it('has each read once after it is resumed, and answers no permission', async (t) => {
    const { settings, env, files } = withAgent(t, 'listens');
    const home = env?.HOME ?? '';
    const memory = join(home, '.test-agent');
    mkdirSync(memory);
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
    const { root } = makeRepository(t, { files: files ?? {} });
    const start = () =>
      startDaemon(t, ['--workspace', workspace, '--repo', root, '--trust'], { HOME: home });
    const prompts = (): string[] => readFileSync(join(memory, 'prompts'), 'utf8').split('\n');
    const until = async (check: () => Promise<unknown>): Promise<unknown> => eventually(check);

    const first = await start();
    const before = connect({ url: first.url });
    const body = { title: 'Count', type: 'chore', description: 'Count.' } as const;
    const { id } = await before.call('POST /cases', { body });
    const session = { type: 'implementing' };
    const { id: sid } = await before.call('POST /cases/{id}/sessions', { id, body: session });
    const at = { id, sid };
    const is = (api: typeof before, status: string) =>
      until(async () =>
        assert.equal((await api.call('GET /cases/{id}/sessions/{sid}', at)).status, status),
      );
    const say = (api: typeof before, text: string) =>
      api.call('POST /cases/{id}/sessions/{sid}/messages', { ...at, body: { text } });
    await is(before, 'plan_ready');
    writeFileSync(join(memory, 'ask'), '');
    await before.call('POST /cases/{id}/sessions/{sid}/approve', at);
    const asks = (api: typeof before) =>
      until(async () => {
        const all = await api.call('GET /attention');
        assert.ok(all.some(({ kind }) => kind === 'permission'));
      });
    // The agent has reacted to them. Of one that was killed before, nothing is known: it gets the messages again.
    const haveRead = (api: typeof before) =>
      until(async () => {
        const all = await api.call('GET /cases/{id}/sessions/{sid}/messages', at);
        assert.ok(all.every(({ delivered_at }) => delivered_at !== null));
      });
    await asks(before);
    // It waits for the answer to the request.
    await say(before, 'First.');
    await first.end('SIGKILL');

    const second = await start();
    const after = connect({ url: second.url });
    await is(after, 'paused');
    await say(after, 'Second.');
    await after.call('POST /api/cases/{id}/session/resume', { id });
    await haveRead(after);
    rmSync(join(memory, 'ask'));
    await second.end('SIGKILL');

    const api = connect({ url: (await start()).url });
    await is(api, 'paused');
    await api.call('POST /api/cases/{id}/session/resume', { id });
    await is(api, 'completed');
    // The agent was heard after them: it asked leave.
    for (const text of ['First.', 'Second.'])
      assert.equal(prompts().filter((prompt) => prompt.includes(text)).length, 1, text);
    const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', at);
    const allowed = events.filter(
      ({ event, data }) =>
        event === 'permission_resolved' &&
        'by' in data &&
        data.by === 'operator' &&
        'option_id' in data &&
        data.option_id !== null,
    );
    assert.deepEqual(allowed, []);
  });
});
