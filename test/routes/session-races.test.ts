/** What happens to sessions at the same moment, and to their Work item by hand. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { sha256 } from '../../store/base/sha256.ts';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually, untilSoon } from '../helpers/eventually.ts';
import { alive } from '../helpers/processes.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase, withScript } from '../helpers/sessions.ts';

const FOREVER = '```sh\nsleep 300\n```\n';

describe('an approval', () => {
  it('ends no run that another one started while it looked for the name of the operator', async (t) => {
    const [bin, home] = [temporaryDirectory(t), temporaryDirectory(t)];
    const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const slow = `#!/bin/sh\ncase " $* " in *" user.name "*) sleep 0.3;; esac\nexec ${git} "$@"\n`;
    writeFileSync(join(bin, 'git'), slow, { mode: 0o755 });
    // Then git is asked.
    writeFileSync(join(home, '.gitconfig'), '[include]\n\tpath = other\n');
    const env = { HOME: home, PATH: `${bin}:${process.env.PATH}` };
    const it = await withCase(t, FOREVER, { settings: 'sandbox: off', env });
    const { id } = await it.planned();
    const first = it.post(`/sessions/${id}/approve`);
    await delay(100);
    const second = await it.post(`/sessions/${id}/approve`);
    assert.deepEqual([(await first).status, second.status], [200, 409]);
    assert.equal(it.running.service.engine.live.get(id)?.stopping, false);
    assert.equal((await it.until(id, 'working')).status, 'working');
  });
});

describe('an abort', () => {
  it('leaves nothing running, whatever is approved at the same moment', async (t) => {
    const it = await withCase(t, FOREVER);
    const { id } = await it.planned();
    const [approved, aborted] = await Promise.all([
      it.post(`/sessions/${id}/approve`),
      it.control('abort'),
    ]);
    assert.ok([200, 422].includes(approved.status), approved.text);
    assert.equal(aborted.body.status, 'aborted');
    assert.equal(it.running.service.engine.live.size, 0);
    assert.equal((await it.until(id, 'aborted')).status, 'aborted');
  });

  it('does not wait for a run that has not begun', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start({ provider: 'manual' });
    assert.equal((await it.control('abort')).body.status, 'aborted');
    assert.equal(it.running.service.engine.live.size, 0);
    assert.equal((await it.eventsOf(id)).at(-1)?.event, 'complete');
  });
});

/** A session whose agent plans until `goOn`. */
const planning = async (t: TestContext) => {
  const options = withScript(t, { plan: 'until test -e "$HOME/go"; do sleep 0.02; done' });
  const it = await withCase(t, '', options);
  const { id } = await it.start();
  const dir = newestSession(it.running, it.item);
  const { live } = it.running.service.engine;
  await eventually(() => assert.ok(live.get(id)?.run));
  const goOn = (): void => writeFileSync(join(options.env?.HOME ?? '', 'go'), '');
  return { it, id, dir, goOn };
};

describe('a plan.md that is edited while the session plans', () => {
  it('is not overwritten where the operator writes the plan', async (t) => {
    const it = await withCase(t);
    const { id } = await it.start({ provider: 'manual' });
    const plan = join(newestSession(it.running, it.item), 'plan.md');
    const { live } = it.running.service.engine;
    writeFileSync(plan, 'Begun.\n');
    // It was read, and the turn has not ended.
    await untilSoon(() => live.get(id)?.result !== undefined);
    writeFileSync(plan, 'Finished.\n');
    const { plan_sha256 } = await it.until(id, 'plan_ready');
    assert.equal(readFileSync(plan, 'utf8'), 'Finished.\n');
    assert.equal(plan_sha256, sha256('Finished.\n'));
  });

  it('is kept beside the plan of an agent, and that is told', async (t) => {
    const { it, id, dir, goOn } = await planning(t);
    writeFileSync(join(dir, 'plan.md'), 'Mine.\n');
    goOn();
    await it.until(id, 'plan_ready');
    assert.equal(readFileSync(join(dir, 'plan.md'), 'utf8'), 'The plan.');
    assert.equal(readFileSync(join(dir, 'edited-plan.md'), 'utf8'), 'Mine.\n');
    assert.match(
      String((await it.untilEvent(id, 'error')).data.message),
      /such as an edit of yours, is in edited-plan\.md/,
    );
  });

  it('is kept also where the edit is older than a pause, or a restart', async (t) => {
    const { it, id, dir, goOn } = await planning(t);
    const [plan, kept] = [join(dir, 'plan.md'), join(dir, 'edited-plan.md')];
    writeFileSync(plan, 'Mine, before the restart.\n');
    await it.running.restart();
    await it.until(id, 'paused');
    assert.equal((await it.control('resume')).status, 200);
    goOn();
    await it.until(id, 'plan_ready');
    assert.equal(readFileSync(plan, 'utf8'), 'The plan.');
    assert.equal(readFileSync(kept, 'utf8'), 'Mine, before the restart.\n');
    const told = (await it.eventsOf(id)).findLast(({ event }) => event === 'error');
    assert.match(String(told?.data.message), /is in edited-plan\.md/);
  });

  it('is kept also where it is saved again while the edit before is kept', async (t) => {
    const { it, id, dir, goOn } = await planning(t);
    writeFileSync(join(dir, 'plan.md'), 'Mine.\n');
    goOn();
    while (!existsSync(join(dir, 'edited-plan.md'))) await setImmediate();
    writeFileSync(join(dir, 'plan.md'), 'Mine, again.\n');
    await it.until(id, 'plan_ready');
    const texts = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
    assert.ok(texts.includes('Mine, again.\n'));
  });

  it('is not kept twice where the plan was sent back', async (t) => {
    const options = withScript(t, { plan: 'true' });
    const it = await withCase(t, '', options);
    const { id } = await it.planned();
    const dir = newestSession(it.running, it.item);
    writeFileSync(join(dir, 'plan.md'), 'Mine.\n');
    await it.post(`/sessions/${id}/revise`, { comment: 'Shorter.' });
    await it.until(id, 'plan_ready');
    assert.equal(readFileSync(join(dir, 'sent-back.md'), 'utf8'), 'Mine.\n');
    assert.ok(!readdirSync(dir).includes('edited-plan.md'));
  });
});

describe('a text below the front matter of session.md', () => {
  const files = (it: SessionTest): string[] => readdirSync(newestSession(it.running, it.item));
  const read = (it: SessionTest, name: string): string =>
    readFileSync(join(newestSession(it.running, it.item), name), 'utf8');

  it('is kept beside the summary that replaces it, and that is told', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    appendFileSync(join(newestSession(it.running, it.item), 'session.md'), '\nMy note.\n');
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.until(id, 'completed');
    assert.equal(read(it, 'edited-summary.md'), 'My note.\n');
    assert.match(read(it, 'session.md'), /\n---\n\n## How it ended\n/);
    assert.match(
      String((await it.untilEvent(id, 'error')).data.message),
      /is in edited-summary\.md/,
    );
  });

  const paused = async (t: TestContext) => {
    const it = await withCase(t, '```sh\nuntil test -e go; do sleep 0.02; done\n```\n');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.untilEvent(id, 'tool_call');
    assert.equal((await it.control('pause')).status, 200);
    assert.match(read(it, 'session.md'), /How it ended/);
    return { it, id, record: join(newestSession(it.running, it.item), 'session.md') };
  };
  const pausedAgain = async (it: SessionTest): Promise<void> => {
    assert.equal((await it.control('resume')).status, 200);
    assert.equal((await it.control('pause')).status, 200);
  };
  const untilTold = async (it: SessionTest, id: string, name: string): Promise<void> =>
    eventually(async () => {
      const told = (await it.eventsOf(id)).filter(({ event }) => event === 'error');
      assert.ok(told.some(({ data }) => String(data.message).includes(` is in ${name} `)));
    });

  it('is not kept where the daemon wrote it, also before a restart', async (t) => {
    const { it } = await paused(t);
    await it.running.restart();
    await pausedAgain(it);
    assert.equal((await it.control('abort')).status, 200);
    assert.ok(!files(it).includes('edited-summary.md'));
  });

  it('is kept also where it is below the summary of a pause before a restart', async (t) => {
    const { it, id, record } = await paused(t);
    await it.running.restart();
    appendFileSync(record, '\nMy note.\n');
    await pausedAgain(it);
    assert.match(read(it, 'edited-summary.md'), /^## How it ended\n[\s\S]*\n\nMy note\.\n$/);
    assert.doesNotMatch(read(it, 'session.md'), /My note/);
    await untilTold(it, id, 'edited-summary.md');
    assert.equal((await it.control('abort')).status, 200);
    assert.ok(!files(it).includes('edited-summary-2.md'));
  });

  it('is kept once where an older release wrote the record, without a hash of its body', async (t) => {
    const { it, id, record } = await paused(t);
    const text = readFileSync(record, 'utf8').replace(/^summary_sha256: .*\n/m, '');
    writeFileSync(record, text);
    await it.running.restart();
    await pausedAgain(it);
    const [, body = ''] = text.split('\n---\n\n');
    assert.equal(read(it, 'edited-summary.md'), body);
    await untilTold(it, id, 'edited-summary.md');
    await pausedAgain(it);
    assert.ok(!files(it).includes('edited-summary-2.md'));
  });

  it('is kept also where it is saved again while the text before is kept', async (t) => {
    const { it, record } = await paused(t);
    appendFileSync(record, '\nMy note.\n');
    const ended = pausedAgain(it);
    while (!files(it).includes('edited-summary.md')) await setImmediate();
    appendFileSync(record, '\nMy other note.\n');
    await ended;
    assert.ok(files(it).some((name) => read(it, name).includes('\nMy other note.\n')));
  });
});

describe('a worktree that is moved away by hand while its session plans', () => {
  it('is named by the failed session, with what to do', async (t) => {
    const { it, id, goOn } = await planning(t);
    const { body } = await it.running.call('GET', `/api/worktrees/${it.item.id}/status`);
    renameSync(String(body.path), `${body.path}-away`);
    goOn();
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /The worktree \S+ is missing\. Put it back; /);
  });
});

describe('the queue', () => {
  it('lets no more sessions run than max_sessions, however many come at once', async (t) => {
    const { running } = await withCase(t, '', { settings: 'max_sessions: 2' });
    const { call } = running;
    const items = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => call<Case>('POST', '/cases', { title: `No ${n}`, type: 'bug' })),
    );
    const sessions = await Promise.all(
      items.map(({ body }) =>
        call<Session>('POST', `/cases/${body.id}/sessions`, {
          type: 'implementing',
          provider: 'manual',
        }),
      ),
    );
    const waiting = sessions.filter(({ body }) => body.status === 'queued');
    assert.equal(waiting.length, 3);
    assert.equal(running.service.engine.live.size, 2);
  });

  it('lists and starts the sessions of one second as they were made, first in first out', async (t) => {
    const it = await withCase(t);
    const { call } = it.running;
    await call('POST', `/api/worktrees/${it.item.id}/lock`, { name: 'the operator' });
    const made: string[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6]) made.push((await it.start({ provider: 'manual' })).id);
    const listed = async (path: string): Promise<string[]> =>
      (await call<Session[]>('GET', path)).body.map(({ id }) => id);
    assert.deepEqual(await listed(`${it.at}/sessions`), made);
    assert.deepEqual(await listed('/api/sessions/queue'), made);
    await call('DELETE', `/api/worktrees/${it.item.id}/lock`);
    assert.equal((await it.until(made[0] ?? '', 'planning')).status, 'planning');
    for (const [at, id] of made.slice(0, 3).entries()) {
      await it.control('abort');
      await it.until(id, 'aborted');
      await it.until(made[at + 1] ?? '', 'planning');
    }
  });

  it('reads sessions in directories of an older release, which have no milliseconds', async (t) => {
    const it = await withCase(t);
    const { call, workspace } = it.running;
    const made: string[] = [];
    for (const _ of [1, 2, 3]) made.push((await it.start({ provider: 'manual' })).id);
    const sessions = join(workspace, it.item.path, 'sessions');
    const names = readdirSync(sessions).filter((name) => /\.\d{3}Z-/.test(name));
    assert.equal(names.length, 3);
    for (const name of names)
      renameSync(join(sessions, name), join(sessions, name.replace(/\.\d{3}Z/, 'Z')));
    const { body } = await call<Session[]>('GET', `${it.at}/sessions`);
    assert.deepEqual(
      body.map(({ id }) => id),
      made,
    );
  });

  it('waits while the Work item is blocked, and goes on when it no longer is', async (t) => {
    const it = await withCase(t, '```sh\nexit 1\n```\n');
    const first = await it.start();
    await it.until(first.id, 'plan_ready');
    const second = await it.start();
    await it.post(`/sessions/${first.id}/approve`);
    await it.until(first.id, 'failed');
    await eventually(() => assert.equal(it.running.service.engine.live.size, 0));
    await it.until(second.id, 'queued');
    await it.running.call('PUT', `${it.at}/state`, { state: 'OPEN' });
    await it.until(second.id, 'plan_ready');
  });

  it('goes on when the lock is deleted by hand, long before the next sweep', async (t) => {
    const it = await withCase(t, '', { watch: true });
    await it.running.call('POST', `/api/worktrees/${it.item.id}/lock`, { name: 'the operator' });
    const { id } = await it.start();
    await it.until(id, 'queued');
    rmSync(join(newestSession(it.running, it.item), '../lock.md'));
    await it.until(id, 'plan_ready');
  });

  it('starts nothing beside a run whose lock was deleted by hand, and the lock is asked for again', async (t) => {
    const it = await withCase(t);
    const first = await it.start({ provider: 'manual' });
    const lock = join(newestSession(it.running, it.item), '../lock.md');
    rmSync(lock);
    const second = await it.start();
    assert.equal(second.status, 'queued');
    await it.running.call('PUT', `${it.at}/sessions/${first.id}/plan`, 'Do it by hand.');
    await it.until(first.id, 'plan_ready');
    await it.until(second.id, 'plan_ready');
    const refused = await it.post(`/sessions/${first.id}/approve`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'lock_held']);
    rmSync(lock);
    assert.equal((await it.post(`/sessions/${first.id}/approve`)).status, 200);
    assert.match(readFileSync(lock, 'utf8'), new RegExp(first.id));
  });
});

describe('a Work item that is changed by hand while its session works', () => {
  it('takes its run with it when it is removed', async (t) => {
    const it = await withCase(t, FOREVER, { watch: true });
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    const { engine } = it.running.service;
    const marker = engine.live.get(id)?.run_marker ?? '';
    assert.equal(await alive(marker), true);
    rmSync(join(it.running.workspace, it.item.path), { recursive: true });
    await eventually(() => assert.equal(engine.live.size, 0));
    assert.equal(await alive(marker), false);
  });

  it('keeps the session when it is moved', async (t) => {
    const it = await withCase(
      t,
      '```sh\nuntil test -e ../go; do sleep 0.02; done\necho x > x\n```\n',
      {
        watch: true,
        settings: 'sandbox: off',
      },
    );
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    const { workspace } = it.running;
    const moved = join(dirname(it.item.path), 'by-hand');
    renameSync(join(workspace, it.item.path), join(workspace, moved));
    await eventually(async () => {
      const { body } = await it.running.call<Case>('GET', it.at);
      assert.equal(body.path, moved);
    });
    writeFileSync(join(workspace, '.dossier/worktrees/go'), '');
    await it.until(id, 'completed');
    const dir = newestSession(it.running, { path: moved });
    assert.match(readFileSync(join(dir, 'diff.patch'), 'utf8'), /\+x/);
    assert.equal((await it.eventsOf(id)).at(-1)?.event, 'complete');
    assert.throws(() => readFileSync(join(workspace, it.item.path, 'case.md')), /ENOENT/);
  });

  it('is followed up once its record can be read again', async (t) => {
    const it = await withCase(t, FOREVER, { watch: true });
    const { id } = await it.planned();
    const file = join(it.running.workspace, it.item.path, 'case.md');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, good.replace('title:', 'title: "'));
    const aborted = await it.control('abort');
    assert.deepEqual([aborted.status, aborted.body.status], [200, 'aborted']);
    const refused = await it.post('/sessions', { type: 'implementing' });
    assert.deepEqual([refused.status, refused.body.code], [409, 'unreadable_record']);
    writeFileSync(file, good);
    await eventually(async () => assert.equal(await it.state(), 'OPEN'));
    await eventually(async () => assert.equal((await it.eventsOf(id)).at(-1)?.event, 'complete'));
    await it.until((await it.start()).id, 'plan_ready');
  });
});
