/** A daemon that was stopped (SIGSTOP) while another one, which cannot see it, took the workspace over. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import type { Case } from '../../store/records/case.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { type Daemon, DOSSIER, firstUrl, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const INNER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

const canUnshare = (t: TestContext): boolean => {
  try {
    execFileSync('unshare', [...INNER.slice(1), 'true'], { stdio: 'pipe' });
    return true;
  } catch (error) {
    assert.notEqual(process.env.CI, 'true', String(error));
    t.skip(`no process namespace can be made here: ${error}`);
    return false;
  }
};

const send = async (url: string, method: string, path: string, body?: object) => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
};

const create = async (url: string, title: string): Promise<void> => {
  const { status, body } = await send(url, 'POST', '/cases', { title, type: 'bug' });
  assert.equal(status, 201, JSON.stringify(body));
};

const titlesAt = async (url: string): Promise<string[]> =>
  ((await send(url, 'GET', '/cases')).body as Case[]).map(({ title }) => title).toSorted();

/** As if nothing had been heard of the owner for an hour: 30 seconds are not waited for. */
const silence = (workspace: string): void => {
  const then = Date.now() / 1000 - 3600;
  utimesSync(join(workspace, '.dossier/daemon.lock'), then, then);
};

interface Scene {
  workspace: string;
  receiver: TestReceiver;
  first: Daemon;
  second: { url: string; outer: ChildProcess; end: (signal: NodeJS.Signals) => Promise<void> };
}

/** The first has made one Work item, and goes on with the second alive, which has made two. */
const scene = async (t: TestContext): Promise<Scene> => {
  const workspace = temporaryDirectory(t);
  const receiver = await openReceiver(t);
  const first = await startDaemon(t, ['--workspace', workspace]);
  await send(first.url, 'POST', '/webhooks', { url: receiver.url, events: ['case_created'] });
  await create(first.url, 'one');
  await eventually(() => assert.equal(toldOf(receiver).length, 1));
  first.process.kill('SIGSTOP');
  silence(workspace);
  const second = await startInside(t, workspace);
  await create(second.url, 'two');
  await create(second.url, 'three');
  first.process.kill('SIGCONT');
  await eventually(() => assert.match(first.errors(), /holds the workspace/));
  return { workspace, receiver, first, second };
};

const startInside = async (t: TestContext, workspace: string): Promise<Scene['second']> => {
  const args = [process.execPath, DOSSIER, 'serve', '--port', '0', '--workspace', workspace];
  const [file = '', ...more] = [...INNER, ...args];
  const outer = spawn(file, more, {
    env: { ...process.env, DOSSIER_TRUST: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  killAtEnd(t, outer);
  const exited = once(outer, 'exit');
  const url = await firstUrl(outer);
  const inner = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').trim();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.kill(Number(inner), signal);
    await exited;
  };
  return { url, outer, end };
};

const toldOf = ({ received }: TestReceiver): string[] => {
  const byId = new Map(received.map(({ headers, body }) => [headers['webhook-id'], body]));
  return [...byId.values()].map((body) => /"title":"(\w+)"/.exec(body)?.[1] ?? body).toSorted();
};

/** Waits until the first writes again, and asserts that it knows all that was made, each told once. */
const goesOn = async ({ first, receiver }: Scene): Promise<void> => {
  await eventually(async () => {
    const asked = send(first.url, 'POST', '/cases', { title: 'four', type: 'bug' });
    assert.equal((await asked.catch(() => undefined))?.status, 201);
  });
  const all = ['four', 'one', 'three', 'two'];
  assert.deepEqual(await titlesAt(first.url), all);
  await eventually(() => assert.deepEqual(toldOf(receiver), all));
  assert.match(first.errors(), /Another daemon held the workspace meanwhile/);
};

const journalOf = (workspace: string): string => {
  const dir = join(workspace, '.dossier/journal');
  return readdirSync(dir)
    .map((name) => readFileSync(join(dir, name), 'utf8').replaceAll('\0', ''))
    .join('');
};

describe('a daemon whose workspace another one took over', { concurrency: 3 }, () => {
  it('refuses writes while that one lives, and goes on at its address once that one has ended', async (t) => {
    if (!canUnshare(t)) return;
    const all = await scene(t);
    const refused = await send(all.first.url, 'POST', '/cases', { title: 'no', type: 'bug' });
    assert.equal(refused.status, 503);
    assert.match(JSON.stringify(refused.body), /Stop that process, and this one continues/);
    const problems = (await send(all.first.url, 'GET', '/api/diagnostics')).body as FileProblem[];
    assert.deepEqual(
      problems.map(({ file, code }) => [file, code]),
      [['.', 'unwritable']],
    );
    await all.second.end('SIGTERM');
    await goesOn(all);
    assert.deepEqual(await all.first.end('SIGTERM'), { code: 0, signal: null });
  });

  it('goes on, too, where that one was killed', async (t) => {
    if (!canUnshare(t)) return;
    const all = await scene(t);
    await all.second.end('SIGKILL');
    silence(all.workspace);
    await goesOn(all);
  });

  it('leaves what that one wrote when it ends itself', async (t) => {
    if (!canUnshare(t)) return;
    const { workspace, first, second } = await scene(t);
    const before = journalOf(workspace);
    assert.match(before, /"title":"three"/);
    assert.deepEqual(await first.end('SIGTERM'), { code: 0, signal: null });
    assert.ok(journalOf(workspace).startsWith(before));
    await create(second.url, 'four');
    await second.end('SIGTERM');
  });
});
