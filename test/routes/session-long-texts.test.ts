/** What the operator writes near the limits is accepted and can be read again, or refused before anything is written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { SessionMessage } from '../../store/records/message.ts';
import type { Session } from '../../store/records/session.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, withAgent, withCase } from '../helpers/sessions.ts';

const WIDE = '\u{1F600}';
const HIDDEN = '\u0001';
const MOST = 20_000;

const planned = async (t: TestContext) => {
  const it = await withCase(t, undefined, withAgent(t, 'plan'));
  const { id } = await it.planned();
  const record = () => readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
  return { it, id, record };
};

describe('a long comment on a plan', () => {
  it('is sent if session.md has room for it, else refused with nothing changed', async (t) => {
    const { it, id, record } = await planned(t);
    const comments = `${it.at}/sessions/${id}/comments`;
    const { headers } = await it.running.call('GET', comments);
    const tooLong = `${'\u6f22'.repeat(60_000)}\n`;
    const put = await it.running.call('PUT', comments, tooLong, {
      'if-match': String(headers.etag),
    });
    assert.equal(put.status, 200, put.text);
    const before = record();
    const refused = await it.running.call<Problem>('POST', `${it.at}/sessions/${id}/revise`);
    assert.deepEqual([refused.status, refused.body.code], [422, 'invalid_state'], refused.text);
    assert.match(refused.text, /The comments have 60000 characters, \d+ more than session\.md/);
    const escaped = await it.post(`/sessions/${id}/revise`, {
      comment: `x${HIDDEN.repeat(19_000)}`,
    });
    assert.equal(escaped.status, 422, escaped.text);
    const nul = await it.post(`/sessions/${id}/revise`, { comment: 'a\0b' });
    assert.equal(nul.status, 400, nul.text);
    assert.equal(record(), before);
    const comment = WIDE.repeat(MOST / 2);
    const sent = await it.post(`/sessions/${id}/revise`, { comment });
    assert.equal(sent.status, 200, sent.text);
    assert.equal((await it.until(id, 'plan_ready')).error, null);
  });
});

describe('a long comment at the creation of a session', () => {
  it('is kept whole, or refused with no session created', async (t) => {
    const it = await withCase(t, undefined, withAgent(t, 'plan'));
    const sessions = async () =>
      (await it.running.call<Session[]>('GET', `${it.at}/sessions`)).body;
    const hidden = await it.post('/sessions', {
      type: 'implementing',
      comment: `x${HIDDEN.repeat(MOST - 1)}`,
    });
    assert.equal(hidden.status, 400, hidden.text);
    assert.match(hidden.text, /\/comment is \d+ characters too long for session\.md/);
    assert.deepEqual(await sessions(), []);
    const comment = WIDE.repeat(MOST / 2);
    const made = await it.post('/sessions', { type: 'implementing', comment });
    assert.equal(made.status, 201, made.text);
    const [session] = await sessions();
    const path = `${it.at}/sessions/${session?.id}/messages`;
    const { body } = await it.running.call<SessionMessage[]>('GET', path);
    assert.equal(body[0]?.text, comment);
  });
});

describe('a long message', () => {
  it('is kept in a file of its own and read again whole', async (t) => {
    const { it, id } = await planned(t);
    const text = WIDE.repeat(MOST / 2);
    const sent = await it.post(`/sessions/${id}/messages`, { text });
    assert.equal(sent.status, 201, sent.text);
    const path = `${it.at}/sessions/${id}/messages`;
    const { body } = await it.running.call<SessionMessage[]>('GET', path);
    assert.equal(body.at(-1)?.text, text);
    const over = await it.post(`/sessions/${id}/messages`, { text: 'x'.repeat(MOST + 1) });
    assert.equal(over.status, 400);
  });
});
