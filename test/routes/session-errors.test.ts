/** Every error that the session endpoints declare and no other test meets. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { reconcile } from '../../store/reconcile/reconcile.ts';
import type { Lock } from '../../store/records/lock.ts';
import type { Session } from '../../store/records/session.ts';
import { assertDeclared } from '../helpers/declared.ts';
import { eventually } from '../helpers/eventually.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { alive } from '../helpers/processes.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, withCase } from '../helpers/sessions.ts';

describe('the errors of sessions', () => {
  it('are 404 for a Work item and a session that are not there', async (t) => {
    const { running, at } = await withCase(t);
    const answer = { option_id: 'yes' };
    for (const base of [`/cases/${NOBODY}/sessions/${NOBODY}`, `${at}/sessions/${NOBODY}`]) {
      for (const [method, path, body] of [
        ['GET', ''],
        ['GET', '/plan'],
        ['PUT', '/plan', 'A plan.'],
        ['GET', '/comments'],
        ['PUT', '/comments', 'One.'],
        ['POST', '/approve'],
        ['POST', '/revise', { comment: 'No.' }],
        ['POST', '/finish'],
        ['POST', '/permissions/one', answer],
        ['GET', '/diff'],
        ['GET', '/stream'],
      ] as const) {
        const { status, body: problem } = await running.call<Problem>(method, base + path, body);
        assert.deepEqual([status, problem.code], [404, 'not_found'], `${method} ${base}${path}`);
      }
    }
    for (const [method, path] of [
      ['GET', `/cases/${NOBODY}/sessions`],
      ['POST', `/api/cases/${NOBODY}/session/resume`],
      ['POST', `/api/cases/${NOBODY}/session/pause`],
      ['GET', `/api/worktrees/${NOBODY}/lock`],
      ['POST', `/api/worktrees/${NOBODY}/lock`],
      ['DELETE', `/api/worktrees/${NOBODY}/lock`],
      ['POST', `/api/cases/${NOBODY}/session/abort`],
    ] as const)
      assert.equal((await running.call(method, path)).status, 404, path);
    const made = await running.call('POST', `/cases/${NOBODY}/sessions`, { type: 'implementing' });
    assert.equal(made.status, 404);
    const queued = await running.call('POST', '/api/sessions/queue', { case_id: NOBODY });
    assert.equal(queued.status, 404);
  });

  it('say what the session is when something is not valid now', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    for (const answer of [
      await it.control('resume'),
      await it.control('pause'),
      await it.post(`/sessions/${id}/finish`),
    ]) {
      assert.deepEqual([answer.status, answer.body.code], [422, 'invalid_state']);
      assert.match(answer.body.detail, /plan_ready/);
    }
    const diff = await it.running.call<Problem>('GET', `${it.at}/sessions/${id}/diff`);
    assert.equal(diff.status, 404);
    const plan = `${it.at}/sessions/${id}/plan`;
    const stale = await it.running.call<Problem>('PUT', plan, 'Other.', { 'if-match': '"old"' });
    assert.deepEqual([stale.status, stale.body.code], [412, 'precondition_failed']);
    assert.equal((await it.control('abort')).status, 200);
    for (const what of ['abort', 'resume', 'pause'] as const)
      assert.equal((await it.control(what)).status, 422);
  });

  it('say when there is a plan and a diff, and that no lock is held', async (t) => {
    const it = await withCase(t);
    const lock = `/api/worktrees/${it.item.id}/lock`;
    await it.running.call('POST', lock);
    const { id } = await it.start();
    const plan = `${it.at}/sessions/${id}/plan`;
    const send = (method: string, path: string, body?: unknown) =>
      it.running.call<Problem>(method, path, body);
    for (const [answer, status, detail] of [
      [
        await send('PUT', plan, 'Mine.'),
        422,
        /is queued: it has no plan yet\. Wait for plan_ready/,
      ],
      [await send('GET', plan), 404, /is queued and has no plan\. There is one from plan_ready/],
      [await send('GET', `${plan}?which=approved`), 404, /no approved plan\. Approve/],
      [
        await send('GET', `${it.at}/sessions/${id}/diff`),
        404,
        /no diff\. Work mode keeps one when/,
      ],
      [await send('DELETE', lock), 204, undefined],
    ] as const) {
      assert.equal(answer.status, status);
      if (detail !== undefined) assert.match(answer.body.detail, detail);
    }
    assert.equal((await it.until(id, 'plan_ready')).status, 'plan_ready');
    assert.equal((await it.control('abort')).status, 200);
    const again = await send('DELETE', lock);
    assert.equal(again.status, 404);
    assert.match(again.body.detail, /is not held, so there is nothing to release\.$/);
  });

  it('say how an approved session that is paused continues', async (t) => {
    const it = await withCase(t, '```sh\nsleep 300\n```\n');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.untilEvent(id, 'tool_call');
    assert.equal((await it.control('pause')).status, 200);
    const again = await it.post(`/sessions/${id}/approve`);
    assert.deepEqual([again.status, again.body.code], [409, 'work_mode_active']);
    assert.match(again.body.detail, /is paused\. Resume it with POST/);
    assert.equal((await it.control('abort')).status, 200);
  });

  it('name the file that cannot be read', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    writeFileSync(join(newestSession(it.running, it.item), 'session.md'), `---\nid: ${id}\n: :\n`);
    for (const answer of [
      await it.running.call<Problem>('GET', `${it.at}/sessions/${id}`),
      await it.post(`/sessions/${id}/approve`),
      await it.running.call<Problem>('GET', `${it.at}/sessions/${id}/comments`),
      await it.running.call<Problem>('PUT', `${it.at}/sessions/${id}/comments`, 'One.'),
      ...(await Promise.all((['abort', 'pause', 'resume'] as const).map(it.control))),
    ]) {
      assert.deepEqual([answer.status, answer.body.code], [409, 'unreadable_record']);
      assert.match(
        answer.body.detail,
        /session\.md:1:1: .*\. Fix it in an editor, then try again\.$/,
      );
    }
  });

  it('come before a decision while case.md cannot be written', async (t) => {
    const it = await withCase(t, '```sh\nsleep 300\n```\n');
    const { id } = await it.planned();
    const file = join(it.running.workspace, it.item.path, 'case.md');
    const before = readFileSync(file, 'utf8');
    const refused = async (answer: Awaited<ReturnType<typeof it.post>>, status: string) => {
      assert.deepEqual([answer.status, answer.body.code], [409, 'unreadable_record']);
      const { body } = await it.running.call<Session>('GET', `${it.at}/sessions/${id}`);
      assert.deepEqual([body.status, body.error], [status, null]);
    };
    writeFileSync(file, before.replace('title', 'a word\ntitle'));
    await refused(await it.post(`/sessions/${id}/approve`), 'plan_ready');
    await refused(await it.post(`/sessions/${id}/revise`, { comment: 'No.' }), 'plan_ready');
    writeFileSync(file, before);
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.untilEvent(id, 'tool_call');
    assert.equal((await it.control('pause')).status, 200);
    writeFileSync(file, before.replace('title', 'a word\ntitle'));
    await refused(await it.control('resume'), 'paused');
  });

  for (const [what, text] of [
    ['is broken', (before: string) => before.replace('title', 'a word\ntitle')],
    ['is empty', () => ''],
  ] as const)
    it(`do not keep a session from being stopped while case.md ${what}`, async (t) => {
      const it = await withCase(t, '```sh\nsleep 300\n```\n');
      const file = join(it.running.workspace, it.item.path, 'case.md');
      const before = readFileSync(file, 'utf8');
      const { id } = await it.planned();
      assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
      await it.untilEvent(id, 'tool_call');
      const { run_marker } = it.service.engine.live.get(id) ?? assert.fail();
      const working = readFileSync(file, 'utf8');
      writeFileSync(file, text(before));
      for (const [control, status] of [
        ['pause', 'paused'],
        ['abort', 'aborted'],
      ] as const) {
        const answer = await it.control(control);
        assert.deepEqual([answer.status, answer.body.status], [200, status], answer.text);
        assert.equal(await alive(run_marker), false);
      }
      assert.equal((await it.eventsOf(id)).at(-1)?.event, 'complete');
      const lock = `/api/worktrees/${it.item.id}/lock`;
      assert.equal((await it.running.call<Lock>('GET', lock)).body.locked, true);
      writeFileSync(file, working);
      await reconcile(it.service.store, it.item.id);
      await eventually(async () => {
        assert.equal(await it.state(), 'OPEN');
        assert.equal((await it.running.call<Lock>('GET', lock)).body.locked, false);
      });
    });

  it('let no aborted session run again whose record is brought back with case.md', async (t) => {
    const it = await withCase(t, '```sh\nsleep 300\n```\n');
    const file = join(it.running.workspace, it.item.path, 'case.md');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.untilEvent(id, 'tool_call');
    assert.equal((await it.control('pause')).status, 200);
    const record = join(newestSession(it.running, it.item), 'session.md');
    const [paused, before] = [readFileSync(record, 'utf8'), readFileSync(file, 'utf8')];
    writeFileSync(file, '');
    assert.equal((await it.control('abort')).body.status, 'aborted');
    writeFileSync(record, paused);
    writeFileSync(file, before);
    await reconcile(it.service.store, it.item.id);
    const resumed = await it.control('resume');
    assert.deepEqual([resumed.status, resumed.body.code], [409, 'approved_elsewhere']);
  });

  for (const [what, text] of [
    ['is empty', ''],
    ['lost its id', '---\nid: [\n---\n'],
    ['has another id', `---\nid: ${NOBODY}\n---\n`],
  ] as const)
    it(`name session.md that ${what}`, async (t) => {
      const it = await withCase(t);
      const { id } = await it.planned();
      writeFileSync(join(newestSession(it.running, it.item), 'session.md'), text);
      for (const answer of [
        await it.running.call<Problem>('GET', `${it.at}/sessions/${id}`),
        await it.post(`/sessions/${id}/approve`),
        await it.control('abort'),
      ]) {
        assert.deepEqual([answer.status, answer.body.code], [409, 'unreadable_record']);
        assert.match(answer.body.detail, /session\.md/);
      }
    });

  it('declare that no lock of a session that cannot be read is released', async (t) => {
    const it = await withCase(t);
    await it.planned();
    writeFileSync(join(newestSession(it.running, it.item), 'session.md'), '');
    const path = '/api/worktrees/{case_id}/lock';
    const lock = path.replace('{case_id}', it.item.id);
    const answer = await it.running.call<Problem>('DELETE', lock);
    const { status, body, headers } = answer;
    assert.deepEqual([status, body.code], [409, 'unreadable_record']);
    assertDeclared({ method: 'DELETE', path, status, body, type: String(headers['content-type']) });
    assert.equal((await it.running.call<Lock>('GET', lock)).body.locked, true);
  });

  it('are not of a queued session that cannot be read, while another one works', async (t) => {
    const it = await withCase(t, '```sh\nsleep 300\n```\n');
    const { id } = await it.planned();
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.until(id, 'working');
    assert.equal((await it.start()).status, 'queued');
    writeFileSync(join(newestSession(it.running, it.item), 'session.md'), '---\n: :\n');
    assert.equal((await it.control('abort')).status, 200);
    await it.until(id, 'aborted');
  });

  for (const [what, text] of [
    ['abort', (before: string) => before.replace('status: working', 'status: [working')],
    ['pause', () => '---\n: :\n'],
  ] as const)
    it(`say that a running agent was stopped by ${what} whose record cannot be read`, async (t) => {
      const it = await withCase(t, '```sh\nsleep 300\n```\n');
      const { id } = await it.planned();
      assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
      await it.untilEvent(id, 'tool_call');
      const { run_marker } = it.service.engine.live.get(id) ?? assert.fail();
      const file = join(newestSession(it.running, it.item), 'session.md');
      const before = readFileSync(file, 'utf8');
      writeFileSync(file, text(before));
      const { status, body } = await it.control(what);
      assert.deepEqual([status, body.code], [409, 'unreadable_record']);
      assert.match(body.detail, /The agent was stopped\. .*session\.md/);
      assert.equal(await alive(run_marker), false);
      writeFileSync(file, before);
      await reconcile(it.service.store, it.item.id);
      assert.match((await it.until(id, 'paused')).error ?? '', /You stopped the session while/);
      assert.equal((await it.control('abort')).body.status, 'aborted');
    });

  it('refuse to resume with another text than the approved one', async (t) => {
    const it = await withCase(t, '```sh\nsleep 300\n```\n');
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    await it.running.restart();
    await it.until(id, 'paused');
    writeFileSync(
      join(newestSession(it.running, it.item), 'approved.md'),
      '```sh\necho other\n```\n',
    );
    const refused = await it.control('resume');
    assert.deepEqual([refused.status, refused.body.code], [409, 'approval_mismatch']);
    assert.equal((await it.until(id, 'paused')).mode, 'work');
  });
});
