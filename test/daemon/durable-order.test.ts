/** What a power cut could leave: the order in which the daemon has the system write, as strace sees it. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import {
  canTrace,
  startTraced,
  startUnder,
  type TracedDaemon,
  written,
} from '../helpers/strace.ts';

/** One system call: from the line on which it began to the line on which it was over. */
interface Call {
  name: string;
  paths: string[];
  text: string;
  ok: boolean;
  from: number;
  to: number;
}

const BEGUN = /^(\d+)\s+(\w+)\((.*)$/;
const RESUMED = /^(\d+)\s+<\.\.\. (\w+) resumed>(.*)$/;

const callsIn = (log: string): Call[] => {
  const calls: Call[] = [];
  const open = new Map<string, Call>();
  for (const [at, line] of log.split('\n').entries()) {
    const [, begun, name = '', text = ''] = BEGUN.exec(line) ?? [];
    const [, pid = begun] = RESUMED.exec(line) ?? [];
    if (pid === undefined) continue;
    if (begun !== undefined) {
      const call = { name, text, paths: pathsIn(text), ok: false, from: at, to: NEVER };
      open.set(pid, call);
      calls.push(call);
    }
    if (/\) += \d+( \(DELAYED\))?$/.test(line))
      Object.assign(open.get(pid) ?? {}, { to: at, ok: true });
  }
  return calls;
};

const NEVER = Number.POSITIVE_INFINITY;

// "…" of path arguments, <…> of descriptors.
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/^\d+<([^>]*)>|"(\/[^"]*)"/g)].map(([, one, other]) => one ?? other ?? '');

interface Traced {
  workspace: string;
  /** The calls of one request, up to its answer, which is the last. */
  during: (method: string, path: string, body?: unknown) => Promise<{ calls: Call[]; body: Body }>;
}
interface Body {
  id: string;
  path: string;
}

const WRITES = 'rename,link,mkdir,fsync,fdatasync,pwrite64,write,writev';

const trace = async (t: TestContext, ...args: string[]): Promise<Traced> => {
  const [workspace, folder] = [temporaryDirectory(t), temporaryDirectory(t)];
  const log = join(folder, 'log');
  const daemon = await startTraced(t, ['--workspace', workspace, ...args], '4');
  await daemon.attach(written(log, WRITES));
  let seen = 0;
  return {
    workspace,
    during: async (...request) => {
      const body = await send(daemon, ...request);
      const all = readFileSync(log, 'utf8');
      const calls = callsIn(all.slice(seen));
      seen = all.length;
      const last = calls.findLastIndex((call) => /"HTTP\/1\.1 2/.test(call.text));
      assert.ok(last >= 0, 'the answer is in the log');
      return { calls: calls.slice(0, last + 1), body };
    },
  };
};

const send = async (
  { url }: TracedDaemon,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return (text === '' ? {} : JSON.parse(text)) as Body;
};

const isSynced = (calls: Call[], path: string, { after = -1, before = Infinity }): boolean =>
  calls.some(
    ({ name, paths, ok, from, to }) =>
      name === 'fsync' && ok && paths[0] === path && from > after && to < before,
  );

// What was replaced, and what a run is shown for git's settings: made again where it is not there.
const scratchIn = (own: string): string[] =>
  ['undo', 'tmp/dossier-settings-'].map((name) => join(own, name));

/** Asserts that at no moment a power cut could take away what the answer says, or leave an event of what is not there. */
const assertOrder = (calls: Call[], workspace: string): void => {
  const own = join(workspace, '.dossier/');
  const done = calls.filter(({ ok }) => ok);
  const placed = done.filter(
    ({ name, paths: [, target = ''] }) =>
      ['rename', 'link'].includes(name) && !scratchIn(own).some((dir) => target.startsWith(dir)),
  );
  assert.ok(placed.length > 0, 'something was written');
  for (const call of placed) assertPlaced(calls, call, own);
  const answer = calls.at(-1)?.from ?? 0;
  for (const { name, paths, from, text } of done) {
    const [path = ''] = paths;
    // A cgroup is made elsewhere, and gone with the system.
    if (name !== 'mkdir' || path.startsWith(own) || path.startsWith('/sys/')) continue;
    const above = dirname(path);
    assert.ok(isSynced(calls, above, { after: from, before: answer }), `${text}: its name`);
  }
  const lines = tellings(calls);
  for (const { to, text } of lines)
    assert.ok(
      done.some(({ name, from, to: end }) => name === 'fdatasync' && from > to && end < answer),
      `${text}: before the answer`,
    );
};

/** First what is in it, then its name, then the journal. */
const assertPlaced = (calls: Call[], { paths, from, to, text }: Call, own: string): void => {
  const [source = '', target = ''] = paths;
  const told = [...tellings(calls), calls.at(-1) as Call].find((call) => call.from > from);
  if (source.startsWith(join(own, 'tmp')))
    assert.ok(isSynced(calls, source, { before: from }), `${text}: its content`);
  const dir = dirname(target.startsWith(join(own, 'trash')) ? source : target);
  assert.ok(isSynced(calls, dir, { after: to, before: told?.from ?? 0 }), `${text}: its name`);
};

const tellings = (calls: Call[]): Call[] =>
  calls.filter(({ name, text }) => name === 'pwrite64' && text.includes('{\\"seen\\":'));

/** The directories of a tree, from the top to this one, that were not synced between the last change there and the answer. */
const unsyncedOnTheWay = (calls: Call[], root: string, folder: string): string[] => {
  const changes = calls.filter(({ name, ok }) => ok && ['mkdir', 'link', 'rename'].includes(name));
  const inTree = changes.filter(({ text }) => text.includes('/proc/self/fd/'));
  const after = inTree.at(-1)?.to ?? NEVER;
  const names = folder.split('/');
  const way = [root, ...names.map((_, at) => join(root, ...names.slice(0, at + 1)))];
  return way.filter((path) => !isSynced(calls, path, { after, before: calls.at(-1)?.from ?? 0 }));
};

describe('a request that writes', () => {
  it('has all of it on disk in order before it is answered', async (t) => {
    if (!canTrace(t)) return;
    const { during, workspace } = await trace(t);
    const created = await during('POST', '/cases', { title: 'One', type: 'bug' });
    assertOrder(created.calls, workspace);
    const { id } = created.body;
    const requests: [string, string, unknown?][] = [
      ['POST', '/cases', { title: 'Two', type: 'bug' }],
      ['PUT', `/cases/${id}`, { title: 'Another' }],
      ['PUT', `/cases/${id}/state`, { state: 'BLOCKED' }],
      ['POST', `/cases/${id}/proof`, { type: 'log', content: 'seen' }],
      ['POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' }],
      ['POST', '/api/global-memory/write', { content: 'x', mode: 'append' }],
      ['POST', '/api/global-memory/snapshot'],
      ['DELETE', `/cases/${id}`],
    ];
    for (const request of requests) assertOrder((await during(...request)).calls, workspace);
  });

  it('of the editor waits for the name of each directory on the way, whoever made it', async (t) => {
    if (!canTrace(t)) return;
    const { during } = await trace(t, '--repo', makeRepository(t).root);
    const created = await during('POST', '/cases', { title: 'One', type: 'bug' });
    const { id } = created.body;
    const { path: root } = (await during('POST', '/api/worktrees', { case_id: id })).body;
    mkdirSync(join(root, 'by/hand'), { recursive: true });
    const at = `/cases/${id}/editor`;
    const requests: [string, string, unknown, string][] = [
      ['POST', `${at}/files`, { path: 'a/b/c/new.txt', content: 'x' }, 'a/b/c'],
      ['POST', `${at}/files`, { path: 'by/hand/new.txt', content: 'x' }, 'by/hand'],
      ['PUT', `${at}/files?path=by/hand/new.txt`, { content: 'y' }, 'by/hand'],
      ['POST', `${at}/directories`, { path: 'd/e/f' }, 'd/e'],
      ['POST', `${at}/rename`, { from: 'a/b/c/new.txt', to: 'g/h/new.txt' }, 'g/h'],
    ];
    for (const [method, path, body, folder] of requests) {
      const { calls } = await during(method, path, body);
      assert.deepEqual(unsyncedOnTheWay(calls, root, folder), [], `${method} ${path}`);
    }
  });

  it('waits for the name of a directory that it makes', async (t) => {
    if (!canTrace(t)) return;
    const [workspace, folder] = [temporaryDirectory(t), temporaryDirectory(t)];
    const daemon = await startTraced(t, ['--workspace', workspace], '4');
    const { id, path } = await send(daemon, 'POST', '/cases', { title: 'One', type: 'bug' });
    const log = join(folder, 'log');
    // Of all directories this one is slow.
    const slow = [`--trace-path=${join(workspace, path)}`, '--inject=fsync:delay_enter=300ms'];
    await daemon.attach([...written(log, 'fsync'), ...slow]);
    await send(daemon, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' });
    const [synced] = callsIn(readFileSync(log, 'utf8'));
    assert.equal(synced?.ok, true, 'the directory above it is synced before the answer');
  });
});

describe('a start on a workspace that is not there', () => {
  it('has the name of each directory that it makes on disk before it listens', async (t) => {
    if (!canTrace(t)) return;
    const [home, folder] = [temporaryDirectory(t), temporaryDirectory(t)];
    const log = join(folder, 'log');
    const args = ['--workspace', join(home, 'not/yet'), '--state-dir', join(home, 'state/own')];
    await startUnder(t, args, written(log, 'mkdir,fsync'));
    const calls = callsIn(readFileSync(log, 'utf8'));
    const made = calls.filter(
      ({ name, ok, text }) => name === 'mkdir' && ok && text.includes(home),
    );
    assert.ok(made.length > 10, `${made.length} directories`);
    const unsynced = made.filter(
      ({ paths: [path = ''], to }) =>
        // What proper-lockfile makes is held for the life of a process.
        !path.endsWith('.lock') && !isSynced(calls, dirname(path), { after: to }),
    );
    assert.deepEqual(
      unsynced.map(({ paths }) => paths[0]),
      [],
    );
  });
});
