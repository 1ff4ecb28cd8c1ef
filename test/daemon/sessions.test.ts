/** A real process with a session in Work mode, killed or stopped, and started again on the same files. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dossier } from '../helpers/command.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { processesNaming } from '../helpers/processes.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { withAgent } from '../helpers/sessions.ts';
import { clientOf, type HttpClient } from '../helpers/stream.ts';

interface Place {
  receiver: TestReceiver;
  client: () => HttpClient;
  daemon: () => Daemon;
  again: () => Promise<void>;
  /** A file that lets the work go on. */
  sign: string;
  workspace: string;
  caseId: string;
  at: string;
  sessionFile: () => string;
  /** Takes away the note of what ran when the daemon was killed. */
  nothingLeft: () => void;
}

const working = async (t: TestContext): Promise<Place> => {
  const repository = await makeRepository(t);
  const [workspace, signs] = [temporaryDirectory(t), temporaryDirectory(t)];
  const sign = join(signs, 'go');
  // In the sandbox there is another /tmp.
  writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
  const receiver = await openReceiver(t);
  const args = ['--workspace', workspace, '--repo', repository.root];
  let daemon = await startDaemon(t, args);
  let client = clientOf(daemon.url);
  await client.post('/webhooks', { url: receiver.url });
  const loop = `while ! test -e "${sign}"; do sleep 0.02; done`;
  const item = await client.post('/cases', {
    title: 'Wait',
    type: 'chore',
    description: `\`\`\`sh\nsetsid sh -c 'while :; do : "${signs}"; sleep 1; done' &\n${loop}\necho done > done.txt\n\`\`\`\n`,
  });
  const caseId = String(item.id);
  const { id } = await client.post(`/cases/${caseId}/sessions`, { type: 'implementing' });
  const at = `/cases/${caseId}/sessions/${id}`;
  await eventually(async () => assert.equal((await client.get(at)).status, 'plan_ready'));
  await client.post(`${at}/approve`);
  await eventually(() => assert.ok(processesNaming(signs).length >= 2));
  const sessions = join(workspace, String(item.path), 'sessions');
  return {
    receiver,
    client: () => client,
    daemon: () => daemon,
    again: async () => {
      daemon = await startDaemon(t, args);
      client = clientOf(daemon.url);
    },
    ...{ workspace, sign, caseId, at },
    nothingLeft: () => rmSync(join(workspace, '.dossier/unsandboxed'), { recursive: true }),
    sessionFile: () => {
      const name = readdirSync(sessions).find((each) => /^\d{4}-/.test(each)) ?? '';
      return join(sessions, name, 'session.md');
    },
  };
};

// Told apart by their ids: a delivery may come again, an event may not.
const told = ({ received }: TestReceiver, type: string): number =>
  new Set(
    received
      .filter(({ headers }) => headers['x-service-event'] === type)
      .map(({ headers }) => headers['webhook-id']),
  ).size;

describe('an agent of a running daemon', () => {
  it('reaches its own Work item through the MCP server, with a token of its own', async (t) => {
    const repository = await makeRepository(t);
    const workspace = temporaryDirectory(t);
    const { settings = '', env = {} } = withAgent(t, 'mcp');
    mkdirSync(join(env.HOME ?? '', '.test-agent'));
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
    const args = ['--workspace', workspace, '--repo', repository.root];
    const daemon = await startDaemon(t, args, env);
    const client = clientOf(daemon.url);
    const { id } = await client.post('/cases', { title: 'Read me', type: 'chore' });
    const session = await client.post(`/cases/${id}/sessions`, { type: 'implementing' });
    const at = `/cases/${id}/sessions/${session.id}`;
    await eventually(async () => assert.equal((await client.get(at)).status, 'plan_ready'));
    const plan = await (await fetch(`${daemon.url}${at}/plan`)).text();
    assert.match(plan, /"jsonrpc":"2\.0"/);
    assert.match(plan, /Read me/);
  });
});

describe('a session in Work mode when its daemon ends', () => {
  for (const from of ['again', 'next'])
    it(`is paused after a kill, with nothing of it alive, and goes on from where the operator says (${from})`, async (t) => {
      const place = await working(t);
      await place.daemon().end('SIGKILL');
      await place.again();
      assert.deepEqual(processesNaming(place.sign.replace(/\/go$/, '')), []);
      const { at, caseId } = place;
      const paused = await place.client().get(at);
      assert.deepEqual([paused.status, paused.mode], ['paused', 'work']);
      assert.equal((await place.client().get(`/cases/${caseId}`)).state, 'IMPLEMENTING');
      writeFileSync(place.sign, '');
      const resume = (body?: object): Promise<Response> =>
        fetch(`${place.daemon().url}/api/cases/${caseId}/session/resume`, {
          method: 'POST',
          ...(body && {
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
        });
      const refused = await resume();
      const problem = (await refused.json()) as Record<string, unknown>;
      assert.deepEqual([refused.status, problem.code], [422, 'choice_needed']);
      assert.deepEqual(problem.choices, ['again', 'next']);
      assert.match(String(problem.detail), /"again".*"next"/);
      const typed = await dossier(t, 'resume', caseId, '--workspace', place.workspace);
      assert.equal(typed.code, 1);
      assert.match(
        typed.stderr,
        /may have run in part: .*setsid.* run the block again: dossier resume [0-9a-f]{8} --workspace \S+ --from again\. Or continue with the next one: dossier resume [0-9a-f]{8} --workspace \S+ --from next\n$/s,
      );
      assert.match(readFileSync(place.sessionFile(), 'utf8'), /setsid.* {2}killed$/m);
      assert.equal((await resume({ from })).status, 200);
      await eventually(async () =>
        assert.equal((await place.client().get(at)).status, 'completed'),
      );
      const diff = await (await fetch(`${place.daemon().url}${at}/diff`)).text();
      assert.equal(diff.includes('+done'), from === 'again');
      assert.match(
        readFileSync(place.sessionFile(), 'utf8'),
        from === 'again' ? /setsid.* {2}completed \(exit 0\)$/m : /setsid.* {2}skipped$/m,
      );
      await eventually(() => assert.equal(told(place.receiver, 'session_completed'), 1));
      assert.equal(told(place.receiver, 'session_started'), 1);
    });

  // As a pull or an editor can: the approved block would be skipped, or run twice, without a question.
  const FORGED: [string, (events: string) => string][] = [
    ['calls it completed', (events) => events.replaceAll('"in_progress"', '"completed"')],
    ['calls it killed', (events) => events.replaceAll('"in_progress"', '"killed"')],
    ['does not have it', (events) => events.replace(/^.*"tool_call".*\n/gm, '')],
    ['has only waited', (events) => events.replace(/^.*"(tool_call|status|approved)".*\n/gm, '')],
  ];
  for (const [what, forged] of FORGED)
    it(`asks about the block that a kill cut off, also where its stream ${what}`, async (t) => {
      const place = await working(t);
      await place.daemon().end('SIGKILL');
      place.nothingLeft();
      const file = join(place.sessionFile(), '../events.ndjson');
      const events = readFileSync(file, 'utf8');
      writeFileSync(file, forged(events));
      assert.notEqual(readFileSync(file, 'utf8'), events);
      await place.again();
      writeFileSync(place.sign, '');
      const resume = `/api/cases/${place.caseId}/session/resume`;
      await assert.rejects(place.client().post(resume), /choice_needed/);
      await place.client().post(resume, { from: 'next' });
      await eventually(async () =>
        assert.equal((await place.client().get(place.at)).status, 'completed'),
      );
      const diff = await (await fetch(`${place.daemon().url}${place.at}/diff`)).text();
      assert.doesNotMatch(diff, /\+done/);
    });

  it('asks nothing any more after a kill, and no longer blocks the Work item', async (t) => {
    const repository = await makeRepository(t);
    const workspace = temporaryDirectory(t);
    const { settings = '', env = {} } = withAgent(t, 'permission');
    mkdirSync(join(env.HOME ?? '', '.test-agent'));
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
    const args = ['--workspace', workspace, '--repo', repository.root];
    const daemon = await startDaemon(t, args, env);
    const { get, post } = clientOf(daemon.url);
    const { id: caseId } = await post('/cases', { title: 'Ask me', type: 'chore' });
    const { id } = await post(`/cases/${caseId}/sessions`, { type: 'implementing' });
    const at = `/cases/${caseId}/sessions/${id}`;
    await eventually(async () => assert.equal((await get(at)).status, 'plan_ready'));
    await post(`${at}/approve`);
    await eventually(async () => assert.equal((await get(`/cases/${caseId}`)).state, 'BLOCKED'));
    await daemon.end('SIGKILL');
    const { url } = await startDaemon(t, args, env);
    const next = clientOf(url);
    await eventually(async () => assert.equal((await next.get(at)).status, 'paused'));
    assert.equal((await next.get(`/cases/${caseId}`)).state, 'IMPLEMENTING');
    const headers = { accept: 'application/json' };
    const events = (await (await fetch(`${url}${at}/stream`, { headers })).json()) as {
      event: string;
      data: Record<string, unknown>;
    }[];
    const asked = events.findLast(({ event }) => event === 'permission_request');
    const closed = events.filter(({ data }) => data.by === 'daemon');
    assert.deepEqual(
      closed.map(({ event, data }) => [event, data.request_id, data.title, data.option_id]),
      [['permission_resolved', asked?.data.request_id, 'npm test', null]],
    );
  });

  it('is left as it was by a stop', async (t) => {
    const place = await working(t);
    const before = readFileSync(place.sessionFile(), 'utf8');
    assert.deepEqual(await place.daemon().end('SIGTERM'), { code: 0, signal: null });
    assert.equal(readFileSync(place.sessionFile(), 'utf8'), before);
    assert.deepEqual(processesNaming(place.sign.replace(/\/go$/, '')), []);
    await place.again();
    assert.equal((await place.client().get(place.at)).status, 'paused');
  });

  it('has its follow-ups done once, when the record says that it ended and nothing else does', async (t) => {
    const place = await working(t);
    await place.daemon().end('SIGKILL');
    const file = place.sessionFile();
    // A hand edit holds only where no program may live that no sandbox holds.
    place.nothingLeft();
    writeFileSync(file, readFileSync(file, 'utf8').replace('status: working', 'status: completed'));
    for (const _ of [1, 2]) {
      await place.again();
      assert.equal((await place.client().get(`/cases/${place.caseId}`)).state, 'VERIFYING');
      await eventually(() => assert.equal(told(place.receiver, 'session_completed'), 1));
      await place.daemon().end('SIGKILL');
    }
    assert.equal(told(place.receiver, 'agent_completed'), 2);
    const events = readFileSync(join(file, '../events.ndjson'), 'utf8');
    assert.equal(events.match(/"event":"complete"/g)?.length, 1);
    assert.ok(!readdirSync(join(file, '../..')).includes('lock.md'));
  });
});
