import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Gate } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { atEnd } from '../helpers/at-end.ts';
import { type DaemonHere, startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, type TestRepository, temporaryDirectory } from '../helpers/repository.ts';
import { filesOf } from '../helpers/workspace.ts';
import { block } from './guides.ts';
import { PROJECT, runExample } from './run.ts';

interface Place {
  daemon: DaemonHere;
  workspace: string;
  repository: TestRepository;
}

const start = async (t: TestContext): Promise<Place> => {
  const workspace = temporaryDirectory(t);
  const repository = await makeRepository(t);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', repository.root]);
  return { daemon, workspace, repository };
};

const get = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;

const post = async <T>(url: string, body: object = {}): Promise<T> => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${answer.status} for ${url}`);
  return (await answer.json()) as T;
};

/** A machine on which git was never told who its user is. */
const withoutIdentity = (t: TestContext): Record<string, string> => ({
  HOME: temporaryDirectory(t),
  XDG_CONFIG_HOME: temporaryDirectory(t),
  GIT_CONFIG_NOSYSTEM: '1',
});

/** What README.md shows of the demo is what it prints, in this order; ids, the month and what is left out aside. */
const assertPicture = (printed: string): void => {
  const plain = (line: string): string =>
    line
      .trim()
      .replace(/-[0-9a-f]{8}\b/g, '-ID')
      .replace(/cases\/\d{4}-\d{2}\//g, 'cases/MONTH/');
  const lines = printed.split('\n').map(plain);
  const shown = block('text', '$ npm run demo').split('\n').slice(1, -1);
  assert.ok(shown.length > 15);
  let from = 0;
  for (const line of shown.filter((one) => one.trim() !== '...')) {
    const at = lines.indexOf(plain(line), from);
    assert.notEqual(at, -1, `the demo prints, in this place: ${line}`);
    from = at + 1;
  }
};

describe('demo', () => {
  it('goes all seven steps on a bare machine, verifies each webhook, and cleans up', async (t) => {
    const dir = join(temporaryDirectory(t), 'demo');
    const demo = runExample(t, 'demo', ['--dir', dir], withoutIdentity(t));
    assert.equal(await demo.ended, 0, demo.written());
    const told = demo.written();
    assert.equal(told.match(/\* webhook .*\(signature verified\)/g)?.length, 10);
    assert.match(told, /\+echo "Hello, \$\{1:-world\}!"/);
    assert.match(told, /state: RESOLVED/);
    assertPicture(told);
    assert.equal(told.includes('\u001b'), false);
    assert.equal(existsSync(dir), false);
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(told) ?? [];
    await assert.rejects(fetch(`${url}/health`));
  });

  it('leaves the daemon and the files with --keep, and says where', async (t) => {
    const dir = temporaryDirectory(t);
    const demo = runExample(t, 'demo', ['--keep', '--dir', dir]);
    assert.equal(await demo.ended, 0, demo.written());
    const pid = Number(/process (\d+);/.exec(demo.written())?.[1]);
    atEnd(t, () => {
      process.kill(pid, 'SIGKILL');
      return eventually(() => assert.throws(() => process.kill(pid, 0)));
    });
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(demo.written()) ?? [];
    const [item] = await get<Case[]>(`${url}/cases`);
    assert.equal(item?.state, 'RESOLVED');
    assert.ok(existsSync(join(dir, 'workspace', item.path, 'case.md')));
    assert.deepEqual(await get(`${url}/webhooks`), []);
  });

  it('touches no directory that has something in it', async (t) => {
    const dir = temporaryDirectory(t);
    writeFileSync(join(dir, 'mine.txt'), 'mine');
    const demo = runExample(t, 'demo', ['--dir', dir]);
    assert.equal(await demo.ended, 1);
    assert.match(demo.written(), /is not empty/);
    assert.deepEqual(readdirSync(dir), ['mine.txt']);
  });
});

describe('first-work-item', () => {
  it('resolves a Work item once the operator approves the plan', async (t) => {
    const { daemon, repository } = await start(t);
    const example = runExample(t, 'first-work-item', [daemon.url]);
    await example.says(/Approve this plan/);
    assert.deepEqual(await states(daemon), ['INVESTIGATING']);
    example.type('y\n');
    assert.equal(await example.ended, 0, example.written());
    assert.deepEqual(await states(daemon), ['RESOLVED']);
    assert.match(example.written(), /\+Reviewed with Dossier\./);
    assert.equal(repository.git('status', '--porcelain'), '');
  });

  it('runs nothing when the operator does not', async (t) => {
    const { daemon, workspace } = await start(t);
    const example = runExample(t, 'first-work-item', [daemon.url]);
    await example.says(/Approve this plan/);
    example.type('n\n');
    assert.equal(await example.ended, 0, example.written());
    assert.deepEqual(await states(daemon), ['OPEN']);
    const files = [...filesOf(workspace).keys()];
    assert.equal(files.filter((name) => name.endsWith('diff.patch')).length, 0);
  });
});

const states = async ({ url }: DaemonHere): Promise<string[]> =>
  (await get<Case[]>(`${url}/cases`)).map(({ state }) => state);

describe('watch-session', () => {
  it('shows every event once, though the daemon is restarted meanwhile', async (t) => {
    const { daemon, workspace, repository } = await start(t);
    const description = '```sh\nuntil test -e go; do sleep 0.05; done\n```\n';
    const body = { title: 'Wait', type: 'chore', description };
    const { id } = await post<Case>(`${daemon.url}/cases`, body);
    const path = `/cases/${id}/sessions`;
    const session = await post<Session>(`${daemon.url}${path}`, { type: 'implementing' });
    const example = runExample(t, 'watch-session', [id, session.id, daemon.url]);
    await example.says(/^\d+ plan_ready/m);
    await daemon.end();
    await example.says(/^-- the connection ended/m);
    const port = new URL(daemon.url).port;
    await startHere(t, ['--workspace', workspace, '--repo', repository.root, '--port', port]);
    await post(`${daemon.url}${path}/${session.id}/approve`);
    await example.says(/^\d+ tool_call in_progress/m);
    const worktree = await get<Worktree>(`${daemon.url}/api/worktrees/${id}/status`);
    writeFileSync(join(worktree.path, 'go'), '');
    assert.equal(await example.ended, 0, example.written());
    const ids = [...example.written().matchAll(/^(\d+) /gm)].map(([, number]) => Number(number));
    assert.deepEqual(
      ids,
      ids.map((_, at) => at + 1),
    );
    assert.match(example.written(), /^\d+ complete completed$/m);
  });

  it('says so when there is no such session', async (t) => {
    const { daemon } = await start(t);
    const example = runExample(t, 'watch-session', ['none', 'none', daemon.url]);
    assert.equal(await example.ended, 1);
    assert.match(example.written(), /There is no Work item none/);
  });
});

describe('webhook-receiver', () => {
  it('prints what the daemon tells, refuses what it did not sign, and takes its leave', async (t) => {
    const { daemon } = await start(t);
    const example = runExample(t, 'webhook-receiver', [daemon.url]);
    await example.says(/Listening at/);
    const { id } = await post<Case>(`${daemon.url}/cases`, { title: 'Heard', type: 'chore' });
    const forged = { event_type: 'case_updated', timestamp: 'now', payload: { case_id: 'forged' } };
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\//.exec(example.written()) ?? [];
    const refused = await fetch(url, { method: 'POST', body: JSON.stringify(forged) });
    assert.equal(refused.status, 400);
    await fetch(`${daemon.url}/cases/${id}/state`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ state: 'BLOCKED' }),
    });
    await example.says(new RegExp(`case_state_changed .*${id}`));
    assert.doesNotMatch(example.written(), /forged/);
    example.signal('SIGTERM');
    assert.equal(await example.ended, 0, example.written());
    assert.deepEqual(await get(`${daemon.url}/webhooks`), []);
  });
});

describe('the example workspace', () => {
  it('is one that the daemon opens as it is: no problem, nothing to add', async (t) => {
    const workspace = join(temporaryDirectory(t), 'workspace');
    cpSync(join(PROJECT, 'examples/workspace'), workspace, { recursive: true });
    const before = filesOf(workspace);
    const { url } = await startHere(t, ['--workspace', workspace]);
    assert.deepEqual(await get(`${url}/api/diagnostics`), []);
    const [item] = await get<Case[]>(`${url}/cases`);
    assert.equal(item?.state, 'RESOLVED');
    const at = `${url}/cases/${item.id}`;
    const [session] = await get<Session[]>(`${at}/sessions`);
    assert.equal(session?.status, 'completed');
    const { satisfied } = await get<Gate>(`${at}/proof/gate`);
    assert.equal(satisfied, true);
    const diff = await (await fetch(`${at}/sessions/${session.id}/diff`)).text();
    assert.match(diff, /^\+echo/m);
    assert.deepEqual([...filesOf(workspace)].toSorted(), [...before].toSorted());
  });

  it('names no machine and no secret', () => {
    for (const [name, text] of filesOf(join(PROJECT, 'examples/workspace')))
      assert.doesNotMatch(text, /\/tmp|\/home|\/root|whsec_|127\.0\.0\.1/, name);
  });
});
