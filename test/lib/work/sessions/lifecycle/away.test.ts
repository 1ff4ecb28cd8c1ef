/** The record of a session that works is taken away by git or by hand, and comes back. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../../../../lib/sandbox/sandbox.ts';
import { startQueued } from '../../../../../lib/work/sessions/lifecycle/launch.ts';
import type { FileProblem } from '../../../../../store/front-matter/problem.ts';
import { reconcile } from '../../../../../store/reconcile/reconcile.ts';
import { sweepWorkspace } from '../../../../../store/reconcile/sweep.ts';
import type { Session } from '../../../../../store/records/session.ts';
import { eventually } from '../../../../helpers/eventually.ts';
import { repositoryIn } from '../../../../helpers/many-items.ts';
import { alive } from '../../../../helpers/processes.ts';
import { newestSession } from '../../../../helpers/service.ts';
import { type SessionTest, withCase } from '../../../../helpers/sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

const WORK = '```sh\necho begun > begun.txt\nuntil test -e go; do sleep 0.05; done\n```\n';

type Git = Awaited<ReturnType<typeof repositoryIn>>;

interface Scene {
  test: SessionTest;
  git: Git;
  id: string;
  marker: string;
  dir: string;
}

/** A session that works, in a workspace that is a git repository; `other` is a branch without the Work item. */
const atWork = async (
  t: TestContext,
  before: (git: Git, dir: string) => void = () => undefined,
  sandbox: 'off' | 'auto' = 'off',
): Promise<Scene> => {
  const test = await withCase(t, WORK, { watch: true, settings: `sandbox: ${sandbox}` });
  const { path } = test.item;
  const aside = join(test.workspace, '.dossier/aside');
  renameSync(join(test.workspace, path), aside);
  const git = await repositoryIn(test.running);
  git('branch', 'other');
  renameSync(aside, join(test.workspace, path));
  await eventually(async () => assert.equal((await test.call('GET', test.at)).status, 200));
  const { id } = await test.planned();
  before(git, newestSession(test, test.item));
  await test.post(`/sessions/${id}/approve`);
  await test.untilEvent(id, 'tool_call');
  const { run_marker: marker } = test.service.engine.live.get(id) ?? assert.fail();
  const worktree = join(test.workspace, '.dossier/worktrees', basename(path));
  await eventually(() => assert.ok(existsSync(join(worktree, 'begun.txt'))));
  return { test, git, id, marker, dir: newestSession(test, test.item) };
};

const commitAll = (git: Git): void => {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'at work');
};

const assertStopped = async ({ test, marker }: Scene): Promise<void> => {
  await eventually(() => assert.equal(test.service.engine.live.size, 0));
  assert.equal(await alive(marker), false);
};

/** It is paused in words, and has lost nothing. */
const assertKept = async ({ test, id }: Scene): Promise<void> => {
  const paused = await test.until(id, 'paused');
  assert.match(paused.error ?? '', /directory of the session was removed while it worked/);
  assert.equal(await test.state(), 'IMPLEMENTING');
  const { path } = (await test.call<{ path: string }>('GET', `/api/cases/${test.item.id}/worktree`))
    .body;
  assert.ok(existsSync(join(path, 'begun.txt')));
};

/** It is paused, and goes on. */
const assertPaused = async (scene: Scene): Promise<void> => {
  await assertKept(scene);
  const { test, id } = scene;
  const resumed = await test.call('POST', `/api/cases/${test.item.id}/session/resume`, {
    from: 'again',
  });
  assert.equal(resumed.status, 200, resumed.text);
  await test.until(id, 'working');
  await assertAborted(test);
};

const assertAborted = async (test: SessionTest): Promise<void> => {
  assert.equal((await test.control('abort')).body.status, 'aborted');
  assert.equal(test.service.engine.live.size, 0);
};

describe('a session whose record is taken away while it works', () => {
  it('is stopped by git switch, writes nothing on the other branch, and is paused once back', async (t) => {
    const scene = await atWork(t, commitAll);
    const { test, git, dir } = scene;
    git('add', '--update');
    git('commit', '--quiet', '--message', 'approved.md is not added');
    const untracked = ['approved.md'];
    assert.deepEqual(untrackedIn(git), untracked);
    git('switch', '--quiet', 'other');
    await assertStopped(scene);
    const listed = await test.call<Session[]>('GET', `${test.at}/sessions`);
    assert.deepEqual(listed.body, []);
    assert.deepEqual(readdirSync(dir), untracked);
    git('switch', '--quiet', 'main');
    await assertPaused(scene);
  });

  it('is stopped where its directory is renamed, which is named with its name, and is paused once back', async (t) => {
    const scene = await atWork(t);
    const { test, dir } = scene;
    const renamed = join(dirname(dir), 'renamed');
    renameSync(dir, renamed);
    await assertStopped(scene);
    const listed = await test.call<Session[]>('GET', `${test.at}/sessions`);
    assert.deepEqual(listed.body, []);
    await eventually(async () => {
      const { body } = await test.call<FileProblem[]>('GET', '/api/diagnostics');
      const [problem] = body.filter(({ file }) => file.endsWith('/renamed/session.md'));
      assert.equal(problem?.code, 'wrong_id');
      assert.match(problem.message, new RegExp(`rename the directory to ${basename(dir)}$`));
    });
    renameSync(renamed, dir);
    await assertPaused(scene);
  });

  it('is paused after a glance at another branch, which takes the whole directory', async (t) => {
    const scene = await atWork(t);
    const { git, dir } = scene;
    commitAll(git);
    git('switch', '--quiet', 'other');
    assert.equal(existsSync(dir), false);
    await assertStopped(scene);
    assert.equal(existsSync(dir), false);
    git('switch', '--quiet', 'main');
    await assertPaused(scene);
  });

  it('has not failed where its agent writes while the record is gone for a moment', async (t) => {
    const scene = await atWork(t);
    const { test, git, id } = scene;
    commitAll(git);
    const { body } = await test.call<{ path: string }>(
      'GET',
      `/api/cases/${test.item.id}/worktree`,
    );
    git('switch', '--quiet', 'other');
    writeFileSync(join(body.path, 'go'), '');
    await eventually(() => assert.ok(test.service.engine.away.has(id)));
    git('switch', '--quiet', 'main');
    await assertStopped(scene);
    // Whether its block has ended by then decides how it is resumed: both are right.
    await assertKept(scene);
    await assertAborted(test);
  });

  it('is paused after git stash -u and stash pop', async (t) => {
    const scene = await atWork(t);
    const { git } = scene;
    git('stash', '--include-untracked', '--quiet');
    await assertStopped(scene);
    git('stash', 'pop', '--quiet');
    await assertPaused(scene);
  });

  it('is paused after its Work item was moved away and back', async (t) => {
    const scene = await atWork(t);
    const { test } = scene;
    const path = join(test.workspace, test.item.path);
    const aside = join(test.workspace, '.dossier/aside');
    renameSync(path, aside);
    await assertStopped(scene);
    assert.equal(existsSync(path), false);
    renameSync(aside, path);
    await assertPaused(scene);
  });

  it('is paused also where the daemon restarts meanwhile', async (t) => {
    const scene = await atWork(t);
    const { test, git } = scene;
    commitAll(git);
    git('switch', '--quiet', 'other');
    await assertStopped(scene);
    await test.restart();
    git('switch', '--quiet', 'main');
    await assertPaused(scene);
  });

  it('loses its run alone where only its own directory is removed', async (t) => {
    const scene = await atWork(t);
    rmSync(scene.dir, { recursive: true });
    await assertStopped(scene);
    assert.equal(existsSync(scene.dir), false);
    assert.equal((await scene.test.control('abort')).status, 422);
  });
});

// Without a sandbox the change waits until the operator confirms it.
describe('a session whose record has another status while it works', { skip }, () => {
  const begun = async (t: TestContext, before?: Parameters<typeof atWork>[1]): Promise<Scene> => {
    const scene = await atWork(t, before, 'auto');
    await eventually(() => assertWork(scene));
    return scene;
  };

  const assertWork = async ({ test }: Scene): Promise<void> => {
    const at = `/api/cases/${test.item.id}/worktree`;
    const { path } = (await test.call<{ path: string }>('GET', at)).body;
    assert.ok(existsSync(join(path, 'begun.txt')));
  };

  /** It can be approved, which the stream and the events tell. */
  const assertApproved = async ({ test, id }: Scene): Promise<void> => {
    const started = () => test.told.filter(({ event_type }) => event_type === 'session_started');
    const before = started().length;
    const { status, body, text } = await test.post(`/sessions/${id}/approve`);
    assert.equal(status, 200, text);
    const approved = (await test.eventsOf(id)).findLast(({ event }) => event === 'approved');
    assert.equal(approved?.data.approved_at, body.approved_at);
    await eventually(() => assert.equal(started().length, before + 1));
  };

  const assertEnded = async (scene: Scene): Promise<void> => {
    await assertStopped(scene);
    const error = await scene.test.untilEvent(scene.id, 'error');
    assert.match(String(error.data.message), /status in session\.md was changed/);
    await assertWork(scene);
  };

  it('is stopped by git reset to before the approval, and its plan waits again', async (t) => {
    const scene = await begun(t, commitAll);
    const { test, git, id } = scene;
    git('reset', '--quiet', '--hard');
    await assertEnded(scene);
    await test.until(id, 'plan_ready');
    await assertApproved(scene);
    await test.until(id, 'working');
    await assertAborted(test);
  });

  it('runs once where its plan is approved again before the daemon has noticed', async (t) => {
    const scene = await begun(t, commitAll);
    const { test, git, marker } = scene;
    git('reset', '--quiet', '--hard');
    await assertApproved(scene);
    assert.equal(await alive(marker), false);
    assert.equal(test.service.engine.live.size, 1);
    await assertAborted(test);
  });

  it('is approved no more once its plan was sent back, also where git brings the approval back', async (t) => {
    const scene = await begun(t, commitAll);
    const { test, git, id } = scene;
    assert.equal((await test.control('pause')).status, 200);
    commitAll(git);
    git('reset', '--quiet', '--hard', 'HEAD~1');
    await test.until(id, 'plan_ready');
    assert.equal((await test.post(`/sessions/${id}/revise`, { comment: 'No.' })).status, 200);
    await test.until(id, 'plan_ready');
    git('reset', '--quiet', '--hard', 'ORIG_HEAD');
    assert.equal((await test.until(id, 'paused')).unconfirmed, 'approved');
    const resumed = await test.control('resume');
    assert.equal(resumed.body.code, 'approved_elsewhere', resumed.text);
    await assertAborted(test);
  });

  it('tells each approval, also where git does not take the stream back', async (t) => {
    const ignored = (git: Git, dir: string): void => {
      writeFileSync(join(dir, '.gitignore'), 'events.ndjson\n');
      commitAll(git);
    };
    const scene = await begun(t, ignored);
    const { test, git, id } = scene;
    git('reset', '--quiet', '--hard');
    await test.until(id, 'plan_ready');
    await assertApproved(scene);
    const told = (await test.eventsOf(id)).filter(({ event }) => event === 'approved');
    assert.equal(told.length, 2);
    await assertAborted(test);
  });

  for (const status of ['paused', 'aborted'])
    it(`is stopped by an editor that writes ${status}`, async (t) => {
      const scene = await begun(t);
      const { test, id, dir } = scene;
      const file = join(dir, 'session.md');
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace('status: working', `status: ${status}`));
      await assertEnded(scene);
      await test.until(id, status);
      await eventually(async () => {
        const lock = `/api/worktrees/${test.item.id}/lock`;
        const { body } = await test.call<{ locked: boolean }>('GET', lock);
        assert.equal(body.locked, status === 'paused');
      });
    });
});

describe('a session whose recovery fails', () => {
  it('is paused once its record is mended that was broken at the start', async (t) => {
    const { test, id, dir } = await atWork(t);
    const file = join(dir, 'session.md');
    await test.stop();
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('status: working', 'status: [working'));
    await test.restart();
    const path = `${test.at}/sessions/${id}`;
    assert.equal((await test.call('GET', path)).body.code, 'unreadable_record');
    writeFileSync(file, text);
    assert.match((await test.until(id, 'paused')).error ?? '', /The daemon stopped/);
  });

  it('is paused once its record is back that was gone at the start', async (t) => {
    const { test, id, dir } = await atWork(t);
    const [file, aside] = [join(dir, 'session.md'), join(test.workspace, '.dossier/aside')];
    await test.stop();
    renameSync(file, aside);
    await test.restart();
    renameSync(aside, file);
    await test.until(id, 'paused');
  });

  it('is paused at the next comparison, without another change', async (t) => {
    const { test, id, dir } = await atWork(t);
    const log = join(dir, 'events.ndjson');
    const aside = join(test.workspace, '.dossier/aside');
    await test.stop();
    renameSync(log, aside);
    mkdirSync(log);
    await test.restart();
    assert.ok(test.logged.some(({ message }) => message.startsWith('recovering a session failed')));
    await test.until(id, 'working');
    rmdirSync(log);
    renameSync(aside, log);
    await sweepWorkspace(test.service.store);
    await test.until(id, 'paused');
  });
});

describe('a run that begins before a failed recovery is repeated', () => {
  it('ends with its own error', async (t) => {
    const test = await withCase(t, WORK, { settings: 'sandbox: off' });
    const { id } = await test.planned();
    test.service.engine.away.set(id, 'The daemon stopped while the session ran.');
    await test.post(`/sessions/${id}/approve`);
    await test.untilEvent(id, 'tool_call');
    const { path } = (
      await test.call<{ path: string }>('GET', `/api/cases/${test.item.id}/worktree`)
    ).body;
    rmSync(join(path, '.git'));
    writeFileSync(join(path, 'go'), '');
    assert.match((await test.until(id, 'failed')).error ?? '', /git/);
  });
});

describe('a queued session that cannot be read when its turn comes', () => {
  /** Its turn has come once. */
  const unreadable = async (t: TestContext) => {
    const test = await withCase(t, WORK);
    const lock = `/api/worktrees/${test.item.id}/lock`;
    assert.equal((await test.call('POST', lock, { name: 'Ann' })).status, 201);
    const { id } = await test.start();
    const file = join(newestSession(test, test.item), 'session.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('status: queued', 'status: [queued'));
    assert.equal((await test.call('DELETE', lock)).status, 204);
    await startQueued(test.service);
    return { test, id, file, text };
  };

  it('starts once it can be read, and is logged once until then', async (t) => {
    const { test, id, file, text } = await unreadable(t);
    await startQueued(test.service);
    const told = test.logged.filter(({ message }) => /queued session cannot be read/.test(message));
    assert.equal(told.length, 1);
    writeFileSync(file, text);
    await reconcile(test.service.store, test.item.id);
    await test.until(id, 'plan_ready');
  });

  it('starts once it is mended after a restart', async (t) => {
    const test = await withCase(t, WORK, { watch: true });
    const lock = `/api/worktrees/${test.item.id}/lock`;
    assert.equal((await test.call('POST', lock, { name: 'Ann' })).status, 201);
    const { id } = await test.start();
    const dir = newestSession(test, test.item);
    const file = join(dir, 'session.md');
    const text = readFileSync(file, 'utf8');
    await test.stop();
    writeFileSync(file, text.replace('status: queued', 'status: [queued'));
    rmSync(join(dirname(dir), 'lock.md'));
    await test.restart();
    assert.deepEqual([...test.service.engine.unread], [id]);
    writeFileSync(file, text);
    await test.until(id, 'plan_ready');
  });

  it('is forgotten with its Work item', async (t) => {
    const { test, id } = await unreadable(t);
    const { unread } = test.service.engine;
    assert.deepEqual([...unread], [id]);
    assert.equal((await test.call('DELETE', test.at)).status, 204);
    await eventually(() => assert.equal(unread.size, 0));
  });
});

describe('a session whose record is a directory', () => {
  it('is logged once, however often its Work item changes', async (t) => {
    const test = await withCase(t, WORK, { watch: true });
    const { id } = await test.planned();
    const file = join(newestSession(test, test.item), 'session.md');
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    mkdirSync(file);
    await changeOften(test);
    rmdirSync(file);
    writeFileSync(file, text);
    await test.until(id, 'plan_ready');
    await assertAborted(test);
  });

  it('is logged once also where it worked, and is paused once the record is back', async (t) => {
    const { test, id, dir } = await atWork(t);
    const file = join(dir, 'session.md');
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    mkdirSync(file);
    assert.equal((await test.control('pause')).status, 409);
    await changeOften(test);
    rmdirSync(file);
    writeFileSync(file, text);
    await test.until(id, 'paused');
    await assertAborted(test);
  });

  /** Nothing but the problem itself is logged. */
  const changeOften = async (test: SessionTest): Promise<void> => {
    const problems = () => test.call('GET', '/api/diagnostics');
    await eventually(async () => assert.match((await problems()).text, /is a directory/));
    await eventually(() => assert.equal(test.service.engine.live.size, 0));
    const before = test.logged.length;
    for (const title of ['One', 'Two', 'Three']) {
      assert.equal((await test.call('PUT', test.at, { title })).status, 200);
      await reconcile(test.service.store, test.item.id);
    }
    const told = test.logged.slice(before).map(({ message }) => `${message}`);
    const others = told.filter((message) => !message.includes('session.md: This is a directory'));
    assert.deepEqual(others, []);
  };
});

describe('a queued session whose directory is away while the daemon restarts', () => {
  it('starts once it is back and its turn has come', async (t) => {
    const test = await withCase(t, WORK, { watch: true });
    const lock = `/api/worktrees/${test.item.id}/lock`;
    assert.equal((await test.call('POST', lock, { name: 'Ann' })).status, 201);
    const { id } = await test.start();
    const dir = newestSession(test, test.item);
    const aside = join(test.workspace, '.dossier/aside');
    renameSync(dir, aside);
    await test.restart();
    renameSync(aside, dir);
    await test.until(id, 'queued');
    assert.equal((await test.call('DELETE', lock)).status, 204);
    await test.until(id, 'plan_ready');
  });
});

const untrackedIn = (git: Git): string[] =>
  git('ls-files', '--others', '--exclude-standard')
    .trim()
    .split('\n')
    .map((path) => path.slice(path.lastIndexOf('/') + 1));

describe('a session whose record is broken when its work ends', () => {
  it('says so in its stream, and is paused as soon as the record is mended', async (t) => {
    const { test, id, dir } = await atWork(t);
    const file = join(dir, 'session.md');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('status: working', 'status: [working'));
    const at = `/api/cases/${test.item.id}/worktree`;
    const { path } = (await test.call<{ path: string }>('GET', at)).body;
    writeFileSync(join(path, 'go'), '');
    await eventually(() => assert.equal(test.service.engine.live.size, 0));
    writeFileSync(file, text);
    assert.match((await test.until(id, 'paused')).error ?? '', /session\.md could not be read/);
    const told = (await test.eventsOf(id)).map(({ data }) => String(data.message));
    assert.ok(told.some((each) => /^The turn has ended\..* .*session\.md:\d+:\d+: /.test(each)));
  });
});
