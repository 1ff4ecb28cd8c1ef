import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { attachable } from '../../../helpers/attachable.ts';
import { assertSentence, dossier } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

/** A daemon with a Work item whose plan is ready, by an agent with a terminal interface. */
const withPlanReady = async (t: TestContext, more?: string) => {
  const agent = attachable(t, more);
  const workspace = temporaryDirectory(t);
  writeFileSync(join(workspace, 'workspace.md'), `---\n${agent.settings}\n---\n`);
  const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root], agent.env);
  const api = connect({ url });
  const body = { title: 'Attach to me', type: 'bug', description: 'Attach.' };
  const { id } = await api.call('POST /cases', { body });
  const made = { type: 'implementing' };
  const { id: sid } = await api.call('POST /cases/{id}/sessions', { id, body: made });
  const at = { id, sid };
  const session = () => api.call('GET /cases/{id}/sessions/{sid}', at);
  const until = (status: string) =>
    eventually(async () => {
      const now = await session();
      assert.equal(now.status, status, now.error ?? undefined);
      return now;
    });
  await until('plan_ready');
  const args = (verb: string, ...rest: string[]) => [
    ...[verb, 'attach', '--workspace', workspace],
    ...rest,
  ];
  const said = (verb: string, ...rest: string[]) => dossier(t, ...args(verb, ...rest));
  const attach = (...answers: [RegExp, string | (() => unknown)][]) =>
    atTerminal(t, args('attach'), answers, { env: agent.env });
  const file = (name: string): string =>
    readFileSync(join(workspace, session_path.get(sid) ?? '', name), 'utf8');
  const session_path = new Map([[sid, (await session()).path]]);
  return { ...agent, api, at, session, until, said, attach, workspace, file };
};

const ENTER = '\r';
const FOREVER = 'echo begun > begun.txt; while sleep 0.05; do :; done';

/** The same with a plan that was approved, and work that was paused. */
const withPausedWork = async (t: TestContext) => {
  const scene = await withPlanReady(t);
  const { api, at, until, work } = scene;
  work(FOREVER);
  await api.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body: {} });
  const { path } = await api.call('GET /api/cases/{id}/worktree', { id: at.id });
  await eventually(() => assert.ok(existsSync(join(path, 'begun.txt'))));
  const pause = () => api.call('POST /api/cases/{id}/session/pause', { id: at.id, body: {} });
  await pause();
  await until('paused');
  return { ...scene, path, pause };
};

describe('dossier attach', { skip: noTerminal }, () => {
  it("opens the agent's interface on the conversation in Plan mode, which can write nothing", async (t) => {
    const { api, at, attach, session, said } = await withPlanReady(t);
    const { code, text } = await attach(
      [/ready/, `What is it?${ENTER}`],
      [/heard What is it\?/, ENTER],
    );
    assert.match(text, /arguments: resume s-\d+ --sandbox read-only\n/);
    assert.match(text, /at a terminal: xterm\ncannot write\nsees no home\ncannot type: 5\n/);
    assert.match(
      text,
      /Session [0-9a-f]{8} was attached \d\d:\d\d–\d\d:\d\d\. 1 message recorded\n/,
    );
    assert.match(text, /^It is plan_ready: dossier plan [0-9a-f]{8}/m);
    assert.equal(code, 0, text);
    const now = await session();
    assert.equal(now.attached?.length, 1);
    assert.ok(now.attached?.[0]?.ended_at);
    const messages = await api.call('GET /cases/{id}/sessions/{sid}/messages', at);
    assert.deepEqual(
      messages.map(({ text: each, from, mode }) => [each, from, mode]),
      [['What is it?', 'attach', 'plan']],
    );
    assert.match((await said('show')).stdout, /plan_ready \(attached \d\d:\d\d–\d\d:\d\d\)/);
  });

  it('works in the worktree of paused work, and the session has what was said and done there', async (t) => {
    const { api, at, attach, session, said, until, file, path } = await withPausedWork(t);
    const { code, text } = await attach(
      [/ready/, `commit${ENTER}`],
      [
        /heard commit/,
        async () => {
          const { attached } = await session();
          assert.equal(attached?.at(-1)?.ended_at, null);
          const resumed = await said('resume');
          assertSentence(resumed, /A terminal is attached to session [0-9a-f-]+\. End the agent's/);
          const aborted = await said('pause');
          assert.equal(aborted.code, 1);
          return ENTER;
        },
      ],
    );
    assert.equal(code, 0, text);
    assert.match(text, /arguments: resume s-\d+\n/);
    assert.match(text, /can write\nsees no home\ncannot type: 5\n/);
    assert.match(text, /1 message recorded\nIt is paused: dossier resume [0-9a-f]{8}/);
    assert.equal(gitIn(path)('log', '-1', '--format=%s'), 'At the terminal\n');
    const patch = await api.call('GET /cases/{id}/sessions/{sid}/diff', at);
    assert.match(String(patch), /\+more[\s\S]*written\.txt/);
    const text_of_session = file('session.md');
    assert.match(text_of_session, /^## The agent's own interface$/m);
    assert.match(text_of_session, /in the agent's own interface, by its transcript, in Work mode/);
    const ended = await attach([
      /ready/,
      async () => {
        await api.call('POST /api/cases/{id}/session/abort', { id: at.id, body: {} });
        return '';
      },
    ]);
    assert.equal(ended.code, 1, ended.text);
    assert.match(ended.text, /0 messages recorded\nThe daemon ended the interface of the agent\n/);
    assert.ok((await until('aborted')).attached?.every(({ ended_at }) => ended_at !== null));
  });

  it('is resumed at once after the terminal was closed', async (t) => {
    const { api, at, attach, until } = await withPausedWork(t);
    const control = (what: 'resume' | 'abort') =>
      api.call(`POST /api/cases/{id}/session/${what}`, { id: at.id, body: {} });
    await attach([
      /ready/,
      async () => {
        let isClosed = false;
        const closing = api
          .call('DELETE /cases/{id}/sessions/{sid}/attach', at)
          .finally(() => (isClosed = true));
        const resume = async (): Promise<unknown> => {
          const wasClosed = isClosed;
          // It may arrive before the other call.
          return control('resume').catch((error: unknown) => {
            if (wasClosed) throw error;
            return resume();
          });
        };
        await Promise.all([closing, resume()]);
        return '';
      },
    ]);
    await until('working');
    await control('abort');
  });

  it('says what to do where it cannot be', async (t) => {
    const { api, at, until, said, attach, work } = await withPlanReady(t);
    assertSentence(await said('attach'), /needs a terminal for input and output\. Use dossier say/);
    work(FOREVER);
    await api.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body: {} });
    await until('working');
    const working = await attach();
    assert.equal(working.code, 1);
    assert.match(
      working.text,
      /is working, so its agent is running\. Pause it first: dossier pause/,
    );
    await api.call('POST /api/cases/{id}/session/abort', { id: at.id, body: {} });
    const ended = await attach();
    assert.match(
      ended.text,
      /has ended \(aborted\)\. .*which plans first: dossier say [0-9a-f]{8} TEXT/,
    );
  });
});
