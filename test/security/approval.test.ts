/** What was approved is kept, is what runs, and says so when it is not there any more. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import { layoutOf } from '../../store/layout.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, type SessionTest, withCase } from '../helpers/sessions.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

// Waits for a file, so that the session can be stopped in the middle.
const SLOW = '```sh\ntouch began\nsleep 300\n```\n\n```sh\ntouch done\n```\n';
const OTHER = '```sh\ntouch evil\n```\n';

const planned = async (t: TestContext, plan: string) => {
  const it = await withCase(t, plan);
  const { id } = await it.planned();
  const dir = newestSession(it.running, it.item);
  return { it, id, dir, plan: readFileSync(join(dir, 'plan.md'), 'utf8') };
};

const paused = async (t: TestContext) => {
  const made = await planned(t, SLOW);
  const { it, id } = made;
  await it.post(`/sessions/${id}/approve`);
  await it.untilEvent(id, 'tool_call');
  assert.equal((await it.control('pause')).status, 200);
  return made;
};

const problems = async (it: SessionTest): Promise<string[]> =>
  (await it.running.call<{ code: string; file: string }[]>('GET', '/api/diagnostics')).body.map(
    ({ code, file }) => `${code} ${file.split('/').at(-1)}`,
  );

const checked = async (it: SessionTest): Promise<string[]> =>
  (await checkWorkspace(layoutOf(it.running.workspace), async () => [])).findings
    .filter(({ code }) => /approv|plan_/.test(code))
    .map(({ severity, code, file }) => `${severity} ${code} ${file.split('/').at(-1)}`);

describe('an approval', () => {
  it('keeps the text byte for byte, with who said yes when, and tells it', async (t) => {
    const { it, id, dir } = await planned(t, 'Do nothing.');
    const text = '\u{feff}# As edited\r\n\r\n```sh\ntrue\n```\n';
    writeFileSync(join(dir, 'plan.md'), text);
    it.running.repository.git('config', 'user.name', 'Ada L.');
    const { body } = await it.post(`/sessions/${id}/approve`);
    assert.deepEqual([body.approved_by, body.approved_name], ['operator', 'Ada L.']);
    assert.equal(body.approved_sha256, sha(text));
    assert.equal(body.plan_sha256, sha(text));
    assert.ok(Math.abs(Date.parse(body.approved_at ?? '') - Date.now()) < 60_000);
    assert.deepEqual(readFileSync(join(dir, 'approved.md')), Buffer.from(text));
    const done = await it.until(id, 'completed');
    assert.equal(done.approved_at, body.approved_at);
    const told = (await it.eventsOf(id)).filter(({ event }) => event === 'approved');
    assert.equal(told.length, 1);
    const { approved_at, approved_by, approved_sha256 } = told[0]?.data ?? {};
    assert.deepEqual([approved_at, approved_by], [body.approved_at, 'operator']);
    assert.equal(approved_sha256, sha(text));
    const record = readFileSync(join(dir, 'session.md'), 'utf8');
    assert.match(record, /^approved_by: operator$/m);
    assert.match(record, /, by operator \(Ada L\.\) at /);
    assert.match(
      record,
      new RegExp(`\\[approved.md\\]\\(approved.md\\), SHA-256 \`${sha(text)}\``),
    );
    assert.deepEqual(await problems(it), []);
    assert.deepEqual(await checked(it), []);
  });

  it('writes no approved.md when it is refused, and no record without it', async (t) => {
    const { it, id, dir } = await planned(t, 'Do nothing.');
    const stale = await it.post(`/sessions/${id}/approve`, { plan_sha256: 'a'.repeat(64) });
    assert.deepEqual([stale.status, stale.body.code], [409, 'plan_changed']);
    assert.throws(() => readFileSync(join(dir, 'approved.md')), { code: 'ENOENT' });
    const none = await it.running.call('GET', `${it.at}/sessions/${id}/plan?which=approved`);
    assert.equal(none.status, 404);
    symlinkSync('plan.md', join(dir, 'approved.md'));
    const linked = await it.post(`/sessions/${id}/approve`);
    assert.ok(linked.status >= 400, linked.text);
    assert.equal((await it.until(id, 'plan_ready')).mode, 'plan');
  });

  it('is one, of many at the same moment, whatever is saved meanwhile', async (t) => {
    const { it, id, dir } = await planned(t, 'Do nothing.');
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        writeFileSync(join(dir, 'plan.md'), `# ${at}\n\n\`\`\`sh\necho ${at} > ran\n\`\`\`\n`);
        return it.post(`/sessions/${id}/approve`);
      }),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    const { approved_sha256 } = await it.until(id, 'completed');
    const kept = readFileSync(join(dir, 'approved.md'), 'utf8');
    assert.equal(sha(kept), approved_sha256);
    const number = /echo (\d)/.exec(kept)?.[1];
    assert.match(readFileSync(join(dir, 'diff.patch'), 'utf8'), new RegExp(`^\\+${number}$`, 'm'));
  });
});

describe('plan.md that is edited after the approval', () => {
  it('is told, and changes nothing that runs', async (t) => {
    const { it, id, dir, plan } = await paused(t);
    writeFileSync(join(dir, 'plan.md'), OTHER);
    const session = await it.until(id, 'paused');
    assert.equal(session.plan_edited, true);
    assert.equal(session.plan_sha256, sha(plan));
    const get = (which: string) =>
      it.running.call('GET', `${it.at}/sessions/${id}/plan${which}`).then(({ text }) => text);
    assert.equal(await get(''), OTHER);
    assert.equal(await get('?which=approved'), plan);
    assert.deepEqual(await problems(it), ['plan_edited plan.md']);
    assert.deepEqual(await checked(it), ['warning plan_edited plan.md']);
    const resumed = await it.control('resume');
    assert.equal(resumed.status, 200, resumed.text);
    await eventually(async () => {
      const calls = (await it.eventsOf(id)).filter(({ event }) => event === 'tool_call');
      const runs = (name: string) =>
        calls.filter(({ data }) => String(data.title).startsWith(name)).length;
      assert.deepEqual([runs('touch began'), runs('touch evil')], [2, 0]);
    });
    await it.control('abort');
    assert.match(readFileSync(join(dir, 'session.md'), 'utf8'), /was edited after that/);
  });
});

describe('approved.md', () => {
  const spoil: Record<string, (file: string) => void> = {
    edited: (file) => writeFileSync(file, OTHER),
    deleted: (file) => rmSync(file),
    'replaced by a link': (file) => {
      rmSync(file);
      symlinkSync('plan.md', file);
    },
  };
  for (const [how, change] of Object.entries(spoil))
    it(`${how}: a resume is refused, nothing runs, and it is told`, async (t) => {
      const { it, id, dir } = await paused(t);
      change(join(dir, 'approved.md'));
      const before = (await it.eventsOf(id)).length;
      const { status, body } = await it.control('resume');
      assert.deepEqual([status, (body as Problem).code], [409, 'approval_mismatch']);
      assert.equal((await it.until(id, 'paused')).status, 'paused');
      assert.equal((await it.eventsOf(id)).length, before);
      assert.ok((await problems(it)).includes('approval_mismatch approved.md'));
      assert.ok((await checked(it)).includes('error approval_mismatch approved.md'));
    });

  it('changed while the session waits for its place: the session fails, and plan.md does not run', async (t) => {
    const it = await withCase(t, '```sh\ntouch mine\n```\n', { settings: 'max_sessions: 1' });
    const { id } = await it.planned();
    const dir = newestSession(it.running, it.item);
    const { body: other } = await it.running.call<{ id: string }>('POST', '/cases', {
      ...{ title: 'First', type: 'chore' },
    });
    const holder = { type: 'implementing', provider: 'manual' };
    await it.running.call('POST', `/cases/${other.id}/sessions`, holder);
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'status');
    writeFileSync(join(dir, 'approved.md'), OTHER);
    await it.running.call('POST', `/api/cases/${other.id}/session/abort`);
    const { error } = await it.until(id, 'failed');
    assert.match(error ?? '', /approved\.md differs from the approved text/);
    assert.ok(!(await it.eventsOf(id)).some(({ event }) => event === 'tool_call'));
  });
});

describe('a session that an older version approved', () => {
  it('goes on with plan.md as its hash says, and with no other', async (t) => {
    const { it, id, dir, plan } = await paused(t);
    const file = join(dir, 'session.md');
    const older = readFileSync(file, 'utf8').replace(/^approved_.*\n/gm, '');
    writeFileSync(file, older);
    rmSync(join(dir, 'approved.md'));
    assert.equal((await it.until(id, 'paused')).approved_sha256, null);
    writeFileSync(join(dir, 'plan.md'), OTHER);
    const refused = await it.control('resume');
    assert.deepEqual([refused.status, refused.body.code], [409, 'plan_changed']);
    writeFileSync(join(dir, 'plan.md'), plan);
    const resumed = await it.control('resume');
    assert.equal((resumed.body as Session).status, 'working', resumed.text);
  });
});
