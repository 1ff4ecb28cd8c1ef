/** What the operator says of a plan: comments.md, by hand and by the API. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readComments } from '../../store/base/comments.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, withAgent, withCase } from '../helpers/sessions.ts';

const planned = async (t: TestContext, behaviour?: string) => {
  const options = behaviour === undefined ? {} : withAgent(t, behaviour);
  if (behaviour !== undefined) mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
  const it = await withCase(t, undefined, options);
  const { id } = await it.start();
  const { plan_sha256 } = await it.until(id, 'plan_ready');
  const path = `${it.at}/sessions/${id}/comments`;
  const read = () => it.running.call('GET', path);
  const put = (text: string, etag?: unknown) =>
    it.running.call<Problem>('PUT', path, text, etag ? { 'if-match': String(etag) } : {});
  const file = () => join(newestSession(it.running, it.item), 'comments.md');
  return { it, id, plan_sha256, read, put, file, plan: `${it.at}/sessions/${id}/plan` };
};

const TWO = '> hello\n\nSay it louder.\n\n> txt\n\nWhy txt?\n';

describe('comments of a plan', () => {
  it('are a file beside it, outside of its hash, which both hands write', async (t) => {
    const { it, id, plan_sha256, read, put, file } = await planned(t);
    const none = await read();
    assert.deepEqual([none.status, none.text], [200, '']);
    const first = await put(TWO, none.headers.etag);
    assert.deepEqual([first.status, first.text], [200, TWO]);
    assert.equal(readFileSync(file(), 'utf8'), TWO);
    writeFileSync(file(), `${TWO}\n> by hand\n\nAnd this.\n`);
    const now = await read();
    assert.match(now.text, /by hand/);
    assert.notEqual(now.headers.etag, first.headers.etag);
    assert.equal((await it.until(id, 'plan_ready')).plan_sha256, plan_sha256);
    assert.equal((await it.post(`/sessions/${id}/approve`, { plan_sha256 })).status, 200);
    await it.until(id, 'completed');
    assert.match((await read()).text, /by hand/);
  });

  it('have one winner of two who write over the same, the first ones too', async (t) => {
    const { read, put } = await planned(t);
    for (const text of ['One.\n', 'Two.\n']) {
      const { etag } = (await read()).headers;
      const answers = await Promise.all([put(`A ${text}`, etag), put(`B ${text}`, etag)]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412]);
      const refused = answers.find(({ status }) => status === 412);
      assert.equal(refused?.body.code, 'precondition_failed');
    }
    const { etag } = (await read()).headers;
    const long = await put('x'.repeat(262_145), etag);
    assert.deepEqual([long.status, long.body.code], [400, 'bad_request']);
  });

  it('are sent by revise without words, once, and are kept beside the next plan', async (t) => {
    const { it, id, plan_sha256, read, put, plan } = await planned(t, 'echo');
    const before = (await it.running.call('GET', plan)).text;
    await put(TWO);
    const revised = await it.post(`/sessions/${id}/revise`);
    assert.deepEqual([revised.status, revised.body.status], [200, 'planning'], revised.text);
    await it.until(id, 'plan_ready');
    assert.match((await it.running.call('GET', plan)).text, /Requested changes[\s\S]*Why txt\?/);
    const { rounds, unsent } = readComments((await read()).text);
    assert.deepEqual([rounds[0]?.comments.length, unsent.length], [2, 0]);
    assert.ok(plan_sha256?.startsWith(rounds[0]?.plan ?? '-'));
    const sentBack = await it.running.call('GET', `${plan}?which=sent_back`);
    assert.deepEqual([sentBack.status, sentBack.text], [200, before]);
    const again = await it.post(`/sessions/${id}/revise`, {});
    assert.deepEqual([again.status, again.body.code], [422, 'invalid_state']);
    assert.equal((await it.until(id, 'plan_ready')).status, 'plan_ready');
  });

  it('stay unsent where other words are sent', async (t) => {
    const { it, id, read, put } = await planned(t, 'echo');
    await put(TWO);
    assert.equal((await it.post(`/sessions/${id}/revise`, { comment: 'Tabs.' })).status, 200);
    await it.until(id, 'plan_ready');
    assert.equal((await read()).text, TWO);
  });

  it('are not sent where they are too long, and nothing is lost', async (t) => {
    const { it, id, read, put } = await planned(t);
    const long = `${'x'.repeat(100_001)}\n`;
    await put(long);
    const answer = await it.post(`/sessions/${id}/revise`);
    assert.deepEqual([answer.status, answer.body.code], [422, 'invalid_state']);
    assert.equal((await read()).text, long);
  });

  it('are told of once for each change, whoever wrote it, over a restart too', async (t) => {
    const { it, id, put, file } = await planned(t);
    const { running } = it;
    const told = () =>
      running.told.filter(({ event_type }) => event_type === 'session_comments_changed');
    await put(TWO);
    await put(TWO);
    const payload = { case_id: it.item.id, session_id: id };
    assert.deepEqual(
      told().map((one) => one.payload),
      [payload],
    );
    await it.untilEvent(id, 'comments_changed');
    await running.stop();
    writeFileSync(file(), `${TWO}\n> by hand\n\nAnd this.\n`);
    await running.restart();
    await eventually(() => assert.equal(told().length, 2));
    await put('');
    assert.equal(told().length, 3);
    const { body } = await running.call<unknown[]>('GET', '/events?types=session_comments_changed');
    assert.equal(body.length, 3);
  });

  it('are told of when a hand wrote them, and as a problem where they cannot be read', async (t) => {
    const { it, id, read, file } = await planned(t);
    const { told, call } = it.running;
    const types = () => told.map(({ event_type }) => event_type as string);
    // Each time it looks closer, as it does by itself each minute.
    const look = () => call('GET', '/api/diagnostics');
    writeFileSync(file(), TWO);
    await look();
    await eventually(() => assert.ok(types().includes('session_comments_changed')));
    await it.untilEvent(id, 'comments_changed');
    const broken = Buffer.concat([Buffer.from(TWO), Buffer.from([0xff, 0x0a])]);
    writeFileSync(file(), broken);
    assert.match((await look()).text, /comments\.md.*not_utf8|not_utf8.*comments\.md/s);
    assert.match((await read()).text, /Why txt/);
    assert.deepEqual(readFileSync(file()), broken);
    writeFileSync(file(), '');
    assert.doesNotMatch((await look()).text, /comments\.md/);
  });

  it('are noted as sent as the plan turn begins, where a crash came between', async (t) => {
    const { it, id, read, put, file } = await planned(t, 'hang-on-feedback');
    await put(TWO);
    await it.post(`/sessions/${id}/revise`);
    await it.running.restart();
    await it.until(id, 'paused');
    writeFileSync(file(), TWO);
    await it.control('resume');
    await eventually(async () => assert.equal(readComments((await read()).text).rounds.length, 1));
    await it.control('abort');
  });
});

describe('GET /cases/{id}/sessions/{sid}/plan?which=sent_back', () => {
  it('is 404 where none was', async (t) => {
    const { it, plan } = await planned(t);
    const { status, body } = await it.running.call<Problem>('GET', `${plan}?which=sent_back`);
    assert.deepEqual([status, body.code], [404, 'not_found']);
  });
});
