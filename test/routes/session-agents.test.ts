/** Sessions with an agent that does one thing each: what an agent may do to the engine, well or badly. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { alive } from '../helpers/processes.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withAgent, withCase, withScript } from '../helpers/sessions.ts';

const agentAt = async (
  t: TestContext,
  behaviour: string,
  sandbox: 'auto' | 'off' = 'off',
): Promise<SessionTest> => {
  const options = withAgent(t, behaviour, sandbox);
  mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
  return withCase(t, 'Change a.txt.', options);
};

const worktreeOf = ({ running, item }: SessionTest): string =>
  join(running.workspace, '.dossier/worktrees', basename(item.path));

describe('an agent that writes in Plan mode', () => {
  for (const [behaviour, trace] of [
    ['scribble', /\+scribbled/],
    ['shell-scribble', /\+by shell[\s\S]*\+new/],
  ] as const) {
    it(`fails the session and is undone, with a patch kept (${behaviour}, no sandbox)`, async (t) => {
      const it = await agentAt(t, behaviour);
      const session = await it.start();
      const failed = await it.until(session.id, 'failed');
      assert.match(failed.error ?? '', /^plan_mode_violation: .*a\.txt/);
      const tree = worktreeOf(it);
      assert.equal(readFileSync(join(tree, 'a.txt'), 'utf8'), 'one\n');
      assert.equal(gitIn(tree)('status', '--porcelain'), '');
      const patch = join(newestSession(it.running, it.item), 'plan-mode-violation.patch');
      assert.match(readFileSync(patch, 'utf8'), trace);
      assert.equal(await it.state(), 'BLOCKED');
      const refs = it.running.repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier');
      assert.match(refs, /^refs\/dossier\/undone\/[-\w]+\n$/);
    });

    it(`cannot, in a sandbox (${behaviour})`, async (t) => {
      const it = await agentAt(t, behaviour, 'auto');
      const session = await it.start();
      await it.until(session.id, 'plan_ready');
      assert.deepEqual(readdirSync(worktreeOf(it)).toSorted(), ['.git', 'a.txt']);
      assert.equal(readFileSync(join(worktreeOf(it), 'a.txt'), 'utf8'), 'one\n');
      const refs = it.running.repository.git('for-each-ref', '--format=%(refname)', 'refs/dossier');
      assert.equal(refs, '');
    });
  }
});

describe('POST /cases/{id}/sessions/{sid}/permissions/{request_id}', () => {
  const asking = async (t: TestContext) => {
    const it = await agentAt(t, 'permission');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    const { data } = await it.untilEvent(id, 'permission_request');
    await eventually(async () => assert.equal(await it.state(), 'BLOCKED'));
    return { it, id, request: String(data.request_id) };
  };

  it('answers what the Work item waits for, which then goes on', async (t) => {
    const { it, id, request } = await asking(t);
    const file = readFileSync(join(it.running.workspace, it.item.path, 'case.md'), 'utf8');
    assert.match(file, /^blocked_from: IMPLEMENTING$/m);
    const permissions = `/sessions/${id}/permissions`;
    const unknown = await it.post(`${permissions}/nothing`, { option_id: 'yes' });
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
    const option = await it.post(`${permissions}/${request}`, { option_id: 'perhaps' });
    assert.deepEqual([option.status, option.body.code], [404, 'not_found']);
    const answers = await Promise.all([
      it.post(`${permissions}/${request}`, { option_id: 'yes' }),
      it.post(`${permissions}/${request}`, { option_id: 'yes' }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 404]);
    await it.until(id, 'completed');
    const moves = it.running.events.flatMap(({ event_type, payload }) =>
      event_type === 'case_state_changed' ? [payload.new_state] : [],
    );
    assert.deepEqual(moves, ['PLANNING', 'IMPLEMENTING', 'BLOCKED', 'IMPLEMENTING', 'VERIFYING']);
    const { data } = await it.untilEvent(id, 'permission_resolved');
    assert.equal(data.by, 'policy');
    const asked = it.running.told.filter(({ event_type }) => event_type.startsWith('permission_'));
    const about = { case_id: it.item.id, session_id: id, request_id: request };
    assert.deepEqual(
      asked.map(({ event_type }) => event_type),
      ['permission_requested', 'permission_answered'],
    );
    const [requested, answered] = asked.map(({ payload }) => payload);
    assert.deepEqual({ ...requested, ...about }, requested);
    const { option_id } = answered as { option_id: string };
    assert.equal(option_id, 'yes');
    assert.deepEqual(answered, { ...about, option_id });
  });

  it('fails the session where all is refused and nothing was done, and names what', async (t) => {
    const { it, id, request } = await asking(t);
    await it.post(`/sessions/${id}/permissions/${request}`, { option_id: 'no' });
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /all its requests were refused: npm test\. Its last message:\nno$/);
    const text = readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
    assert.match(text, /\n## Requests that you refused\n\n```text\nnpm test\n```\n/);
  });

  const restarted = async (it: SessionTest, id: string) => {
    await it.running.restart();
    await it.until(id, 'paused');
    assert.equal((await it.control('resume')).status, 200);
  };

  // The request of this number, counted over all turns.
  const requested = (it: SessionTest, id: string, number: number) =>
    eventually(async () => {
      const asked = (await it.eventsOf(id)).filter(({ event }) => event === 'permission_request');
      const one = asked[number - 1];
      assert.ok(one);
      return one;
    });

  const answer = async (it: SessionTest, id: string, number: number, option_id: string) => {
    const { data } = await requested(it, id, number);
    const answered = await it.post(`/sessions/${id}/permissions/${data.request_id}`, { option_id });
    assert.equal(answered.status, 200, answered.text);
  };

  it('fails a resumed session in the same way', async (t) => {
    const { it, id } = await asking(t);
    await restarted(it, id);
    await answer(it, id, 2, 'no');
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /all its requests were refused: npm test\./);
  });

  it('fails no session that worked before it was resumed', async (t) => {
    const options = withAgent(t, 'planned');
    writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
      'plan.md': 'Build and test.',
      'commands.json': '[{"command":"npm run build"},{"command":"npm test"}]',
    });
    const it = await withCase(t, 'Build.', options);
    const { id } = await it.start();
    await it.until(id, 'plan_ready');
    await it.post(`/sessions/${id}/approve`);
    await answer(it, id, 1, 'yes');
    await requested(it, id, 2);
    await restarted(it, id);
    for (const number of [3, 4]) await answer(it, id, number, 'no');
    await it.until(id, 'completed');
  });

  it('is no longer open after an abort', async (t) => {
    const { it, id, request } = await asking(t);
    assert.equal((await it.control('abort')).status, 200);
    const late = await it.post(`/sessions/${id}/permissions/${request}`, { option_id: 'yes' });
    assert.equal(late.status, 404);
    assert.equal(await it.state(), 'OPEN');
  });

  it('is closed by a stop, and no longer blocks the Work item', async (t) => {
    const { it, id } = await asking(t);
    await it.running.restart();
    assert.equal((await it.until(id, 'paused')).mode, 'work');
    assert.equal(await it.state(), 'IMPLEMENTING');
    const closed = (await it.eventsOf(id)).findLast(({ event }) => event === 'permission_resolved');
    assert.deepEqual([closed?.data.option_id, closed?.data.by], [null, 'daemon']);
    assert.equal((await it.control('resume')).status, 200);
    await eventually(async () => {
      const asked = (await it.eventsOf(id)).filter(({ event }) => event === 'permission_request');
      assert.equal(asked.length, 2);
    });
    assert.equal((await it.control('abort')).status, 200);
  });
});

describe('a session whose agent does not do its work', () => {
  for (const [status, before, claim] of [
    ['failed', '', 'fails where no run of it did anything'],
    [
      'completed',
      'echo two > a.txt\n',
      'completes where an earlier run left work that it did not report',
    ],
  ] as const)
    it(`${claim}, and the resumed agent only speaks`, async (t) => {
      const options = withScript(t, { work: `${before}touch begun\nexec sleep 300` });
      const it = await withCase(t, 'Change a.txt.', options);
      const { id } = await it.planned();
      await it.post(`/sessions/${id}/approve`);
      const { path } = (
        await it.running.call<{ path: string }>('GET', `/api/cases/${it.item.id}/worktree`)
      ).body;
      await eventually(() => assert.ok(existsSync(join(path, 'begun'))));
      rmSync(join(path, 'begun'));
      assert.equal((await it.control('pause')).status, 200);
      rmSync(join(options.env?.HOME ?? '', '.test-agent/work.sh'));
      assert.equal((await it.control('resume')).status, 200);
      const { error } = await it.until(id, status);
      if (status === 'failed')
        assert.match(error ?? '', /without doing anything: it called no tool/);
    });

  for (const [behaviour, why] of [
    ['crash', /7|out of luck/],
    ['silent', /without any text or action/],
    ['refusal', /refused/],
    ['error', /holiday/],
    ['model-error', /wrote no plan: [\s\S]*404 Not Found: no such model/],
  ] as const) {
    it(`fails with a sentence (${behaviour})`, async (t) => {
      const it = await agentAt(t, behaviour);
      const { id } = await it.start();
      const failed = await it.until(id, 'failed');
      assert.match(failed.error ?? '', why);
      assert.equal(await it.state(), 'BLOCKED');
      const events = await it.eventsOf(id);
      assert.deepEqual(
        events.slice(-3).map(({ event }) => event),
        ['error', 'status', 'complete'],
      );
    });
  }

  it('waits at once where its model does not take the key, whatever it goes on trying', async (t) => {
    const it = await agentAt(t, 'refused-key');
    const { id } = await it.start();
    const paused = await it.until(id, 'paused');
    assert.equal(paused.pause_reason, 'login');
    assert.match(paused.error ?? '', /rejected the credential \(401\).*Log in/);
  });

  it('says what it waits for and since when, in the stream and in the session', async (t) => {
    const it = await agentAt(t, 'retrying');
    const { id } = await it.start();
    const { data } = await it.untilEvent(id, 'waiting');
    const session = await it.running.call<Session>('GET', `${it.at}/sessions/${id}`);
    const { waiting } = session.body;
    assert.deepEqual(waiting, {
      for: 'model',
      since: data.since,
      message: 'Reconnecting... 2/5 unexpected status 503',
      http_status: 503,
      attempt: 2,
      attempts: 5,
      stderr: 'upstream is␛[8m down',
    });
    const { at: _, ...told } = data;
    assert.deepEqual(told, waiting);
    const active = await it.running.call<Session[]>('GET', '/api/sessions/active');
    assert.deepEqual(active.body[0]?.waiting, waiting);
    const paused = await it.control('pause');
    assert.equal(paused.body.pause_reason, 'operator');
    assert.equal(paused.body.waiting, undefined);
    assert.equal((await it.control('abort')).body.pause_reason, undefined);
  });

  it('is paused by a limit of its model, with its lock, and goes on when it is resumed', async (t) => {
    const it = await agentAt(t, 'limited');
    const { id } = await it.start();
    for (const mode of ['plan', 'work'] as const) {
      const paused = await it.until(id, 'paused');
      assert.equal(paused.mode, mode);
      assert.equal(paused.pause_reason, 'usage_limit');
      assert.equal(paused.resume_at, '2030-01-02T03:04:05.000Z');
      assert.match(paused.error ?? '', /hit your usage limit/);
      const lock = await it.running.call<{ holder: { session_id: string } }>(
        'GET',
        `/api/worktrees/${it.item.id}/lock`,
      );
      assert.equal(lock.body.holder.session_id, id);
      const told = (await it.eventsOf(id)).at(-1);
      assert.deepEqual([told?.event, told?.data.resume_at], ['status', paused.resume_at]);
      assert.match(
        readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8'),
        /^Paused in/m,
      );
      const { body: resumed } = await it.control('resume');
      assert.deepEqual([resumed.error, resumed.resume_at], [null, undefined]);
      if (mode === 'work') break;
      await it.until(id, 'plan_ready');
      assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    }
    await it.until(id, 'completed');
  });

  it('is paused where the sandbox fails before its agent begins, and goes on when it is resumed', async (t) => {
    const bin = temporaryDirectory(t);
    const fault = join(bin, 'fault');
    const bwrap = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh\ntest -e ${fault} && echo "bwrap: fork: Resource temporarily unavailable" >&2 && exit 1\nexec ${bwrap} "$@"\n`;
    writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
    const { env, ...options } = withScript(t, { work: 'echo two > a.txt' }, 'auto');
    const PATH = `${bin}:${process.env.PATH}`;
    const it = await withCase(t, 'Change a.txt.', { ...options, env: { ...env, PATH } });
    writeFileSync(fault, '');
    const { id } = await it.start();
    for (const [mode, status] of [
      ['plan', 'plan_ready'],
      ['work', 'completed'],
    ] as const) {
      const paused = await it.until(id, 'paused');
      assert.deepEqual([paused.mode, paused.pause_reason], [mode, 'interrupted']);
      assert.match(paused.error ?? '', /could not be started: .*bwrap: fork: Resource temporarily/);
      rmSync(fault);
      assert.equal((await it.control('resume')).status, 200);
      await it.until(id, status);
      writeFileSync(fault, '');
      if (mode === 'plan') assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    }
  });

  it('has failed when it only spoke of working, and says so', async (t) => {
    const it = await agentAt(t, 'sh');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    const failed = await it.until(id, 'failed');
    assert.match(
      failed.error ?? '',
      /called no tool, and the worktree has not changed\. .*:\nThe plan\.$/,
    );
  });

  for (const behaviour of ['hang', 'deaf', 'stubborn']) {
    it(`is aborted with every process of it (${behaviour})`, async (t) => {
      const it = await agentAt(t, behaviour);
      const { id } = await it.start();
      await it.untilEvent(id, 'message');
      const marker = it.running.service.engine.live.get(id)?.run_marker ?? '';
      assert.equal(await alive(marker), true);
      const aborted = await it.control('abort');
      assert.deepEqual([aborted.status, aborted.body.status], [200, 'aborted']);
      assert.equal(await alive(marker), false);
      assert.equal(await it.state(), 'OPEN');
      assert.equal((await it.eventsOf(id)).at(-1)?.event, 'complete');
    });
  }
});
