/** What an agent asks the operator in either mode, and how that is answered, withdrawn and kept. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const BASE = {
  message: 'Which database\u202e?',
  requestedSchema: {
    type: 'object',
    properties: {
      base: { type: 'string', enum: ['postgres', 'sqlite'], title: 'Database' },
      port: { type: 'integer', minimum: 1 },
    },
    required: ['base'],
  },
};

const NOBODY = '11111111-1111-4111-8111-111111111111';

const scene = async (t: TestContext, questions: object[] = [BASE], behaviour = 'asks') => {
  const options = withAgent(t, behaviour);
  writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
    'questions.json': JSON.stringify(questions),
  });
  const it = await withCase(t, 'Ask.', options);
  const { id } = await it.start();
  const asked = (nth = 1): Promise<string> =>
    eventually(async () => {
      const all = (await it.eventsOf(id)).filter(({ event }) => event === 'question_request');
      const found = all[nth - 1];
      assert.ok(found, `no question ${nth}`);
      await eventually(async () => assert.equal(await it.state(), 'BLOCKED'));
      return String(found.data.question_id);
    });
  const answer = (question_id: string, body: object) =>
    it.post(`/sessions/${id}/questions/${question_id}`, body);
  const session = async (): Promise<Session> =>
    (await it.running.call<Session>('GET', `${it.at}/sessions/${id}`)).body;
  const record = (): string =>
    readFileSync(join(newestSession(it.running, it.item), 'session.md'), 'utf8');
  return { it, id, asked, answer, session, record };
};

const attention = async (it: SessionTest): Promise<AttentionItem[]> =>
  (await it.running.call<AttentionItem[]>('GET', '/attention')).body;

const resolutionOf = async (it: SessionTest, id: string) => {
  const all = (await it.eventsOf(id)).filter(({ event }) => event === 'question_resolved');
  const { action, by, content } = all.at(-1)?.data ?? {};
  return { action, by, content };
};

const POSTGRES = { action: 'accept', content: { base: 'postgres', port: 5432 } };

describe('a question of an agent', () => {
  it('waits in Plan mode, is told everywhere, and its answer reaches the agent and the record', async (t) => {
    const { it, id, asked, answer, session, record } = await scene(t);
    const question = await asked();
    const { data } = await it.untilEvent(id, 'question_request');
    assert.equal(data.message, 'Which database⟦U+202E⟧?');
    assert.deepEqual(data.fields, [
      {
        ...{ name: 'base', type: 'string', required: true, title: 'Database' },
        options: [{ value: 'postgres' }, { value: 'sqlite' }],
      },
      { name: 'port', type: 'integer', required: false, minimum: 1 },
    ]);
    const { waiting } = await session();
    assert.equal(waiting?.for, 'operator');
    assert.equal(waiting?.message, 'Which database⟦U+202E⟧?');
    const [waits, ...others] = await attention(it);
    assert.deepEqual([waits?.kind, waits?.since, others], ['question', waiting?.since, []]);
    assert.deepEqual(waits?.fields, data.fields);
    await eventually(() => assert.match(record(), /Which database.*\n- base: Database; one of/));
    assert.match(record(), /It waits for your answer/);

    const answered = await answer(question, POSTGRES);
    assert.deepEqual([answered.status, answered.body.waiting], [200, undefined]);
    const ready = await it.until(id, 'plan_ready');
    assert.deepEqual([ready.mode, ready.approved_at], ['plan', null]);
    assert.equal(await it.state(), 'INVESTIGATING');
    assert.deepEqual(await resolutionOf(it, id), { ...POSTGRES, by: 'operator' });
    const plan = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    const told = JSON.stringify({ offered: { form: {} }, answers: [POSTGRES] });
    assert.equal(plan.text.trim(), `Let me ask first.\n\n${told}`);
    const events = it.running.told.filter(({ event_type }) => event_type.startsWith('question_'));
    const about = { case_id: it.item.id, session_id: id, question_id: question };
    assert.deepEqual(
      events.map(({ event_type, payload }) => [event_type, payload]),
      [
        ['question_requested', { ...about, message: 'Which database⟦U+202E⟧?' }],
        ['question_answered', { ...about, action: 'accept', by: 'operator' }],
      ],
    );
    assert.equal((await it.control('abort')).status, 200);
    assert.match(
      record(),
      /## Questions[\s\S]*The operator answered:\n\n```text\nbase: postgres\nport: 5432\n/,
    );
  });

  it('replaces a text of the operator in session.md, which is kept and told', async (t) => {
    const { it, id, asked, answer, record } = await scene(t);
    const question = await asked();
    await eventually(() => assert.match(record(), /It waits for your answer/));
    const dir = newestSession(it.running, it.item);
    appendFileSync(join(dir, 'session.md'), '\nMy note.\n');
    assert.equal((await answer(question, POSTGRES)).status, 200);
    await it.until(id, 'plan_ready');
    assert.match(readFileSync(join(dir, 'edited-summary.md'), 'utf8'), /\nMy note\.\n$/);
    const { data } = await it.untilEvent(id, 'error');
    assert.match(String(data.message), /is in edited-summary\.md/);
  });

  it('waits in Work mode, and the work goes on with the answer', async (t) => {
    const { it, id, asked, answer, record } = await scene(t);
    await answer(await asked(), { action: 'decline' });
    await it.until(id, 'plan_ready');
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    assert.equal((await answer(await asked(2), POSTGRES)).status, 200);
    await it.until(id, 'completed');
    assert.equal(await it.state(), 'VERIFYING');
    assert.match(record(), /The operator declined\.[\s\S]*The operator answered:/);
    assert.deepEqual(
      (await attention(it)).map(({ kind }) => kind),
      ['done'],
    );
  });

  it('that cannot be asked is declined, with the reason in the stream and the record', async (t) => {
    const wrong = { message: 'Log in', mode: 'url', url: 'https://evil.test', elicitationId: 'e' };
    const { it, id, record } = await scene(t, [wrong]);
    await it.until(id, 'plan_ready');
    const { data } = await it.untilEvent(id, 'question_resolved');
    assert.deepEqual([data.action, data.by, data.message], ['decline', 'daemon', 'Log in']);
    assert.match(String(data.reason), /address/);
    assert.equal((await it.control('abort')).status, 200);
    assert.match(record(), /Log in[\s\S]*It was not answered:[\s\S]*address/);
  });

  it('whose agent dies is cancelled', async (t) => {
    const { it, id } = await scene(t, [], 'asks-and-dies');
    await it.until(id, 'failed');
    assert.deepEqual(await resolutionOf(it, id), {
      ...{ action: 'cancel', by: 'agent', content: undefined },
    });
    assert.deepEqual(
      (await attention(it)).map(({ kind }) => kind),
      ['failed'],
    );
  });
});

describe('POST /cases/{id}/sessions/{sid}/questions/{question_id}', () => {
  it('refuses what does not fit, naming each field, and the question waits', async (t) => {
    const { asked, answer, session } = await scene(t);
    const question = await asked();
    for (const [body, fields] of [
      [{ action: 'accept' }, ['/content/base']],
      [
        { action: 'accept', content: { base: 'oracle', port: 0 } },
        ['/content/base', '/content/port'],
      ],
      [{ action: 'accept', content: { base: 'sqlite', colour: 'red' } }, ['/content/colour']],
      [{ action: 'decline', content: { base: 'sqlite' } }, ['/content']],
    ] as const) {
      const refused = await answer(question, body);
      const { code, errors } = refused.body as unknown as {
        code: string;
        errors: { path: string }[];
      };
      assert.deepEqual([refused.status, code], [422, 'answer_invalid']);
      assert.deepEqual(
        errors.map(({ path }) => path),
        fields,
      );
    }
    for (const body of [{}, { action: 'perhaps' }, { action: 'accept', content: { base: {} } }]) {
      const refused = await answer(question, body);
      assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request']);
    }
    assert.equal((await session()).waiting?.for, 'operator');
  });

  it('has one winner of two answers at once', async (t) => {
    const { it, id, asked, answer } = await scene(t);
    const question = await asked();
    const bodies = [POSTGRES, { action: 'accept', content: { base: 'sqlite' } }];
    const answers = await Promise.all(bodies.map((body) => answer(question, body)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    const winner = bodies[answers.findIndex(({ status }) => status === 200)];
    await it.until(id, 'plan_ready');
    const plan = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    assert.ok(plan.text.includes(JSON.stringify([winner])), plan.text);
    const loser = answers.find(({ status }) => status === 409);
    assert.equal(loser?.body.code, 'question_closed');
  });

  it('answers each of several by itself, and the Work item waits for all', async (t) => {
    const { it, id, asked, answer } = await scene(t, [BASE, { message: 'And now?' }]);
    const [first, second] = [await asked(1), await asked(2)];
    assert.equal((await answer(second, { action: 'accept' })).status, 200);
    assert.equal(await it.state(), 'BLOCKED');
    assert.equal((await answer(first, { action: 'cancel' })).status, 200);
    await it.until(id, 'plan_ready');
    const plan = await it.running.call('GET', `${it.at}/sessions/${id}/plan`);
    assert.match(plan.text, /"answers":\[\{"action":"cancel"\},\{"action":"accept"\}\]/);
  });

  it('is 404 for a question that nobody asked, and 409 in a session that has ended', async (t) => {
    const { it, asked, answer } = await scene(t);
    const question = await asked();
    const unknown = await answer(NOBODY, POSTGRES);
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'not_found']);
    assert.equal((await it.control('abort')).status, 200);
    assert.equal(await it.state(), 'OPEN');
    const late = await answer(question, POSTGRES);
    assert.deepEqual([late.status, late.body.code], [409, 'question_closed']);
    assert.equal((await answer(NOBODY, POSTGRES)).status, 404);
  });

  it('is 409 unreadable_record where session.md is none', async (t) => {
    const { it, asked, answer } = await scene(t);
    const question = await asked();
    const dir = newestSession(it.running, it.item);
    const good = readFileSync(join(dir, 'session.md'), 'utf8');
    writeFiles(dir, { 'session.md': good.replace('mode: plan', 'mode: [') });
    const refused = await answer(question, POSTGRES);
    assert.deepEqual([refused.status, refused.body.code], [409, 'unreadable_record']);
    writeFiles(dir, { 'session.md': good });
  });
});

describe('a question that waits', () => {
  it('is cancelled by a pause, and asked again when the session goes on', async (t) => {
    const { it, id, asked, answer, session } = await scene(t);
    const question = await asked();
    assert.equal((await it.control('pause')).body.status, 'paused');
    assert.equal(await it.state(), 'INVESTIGATING');
    assert.deepEqual(await resolutionOf(it, id), {
      ...{ action: 'cancel', by: 'daemon', content: undefined },
    });
    assert.deepEqual(
      (await attention(it)).map(({ kind }) => kind),
      ['paused'],
    );
    assert.equal((await session()).waiting, undefined);
    assert.equal((await answer(question, POSTGRES)).status, 409);
    assert.equal((await it.control('resume')).status, 200);
    assert.equal((await answer(await asked(2), POSTGRES)).status, 200);
    await it.until(id, 'plan_ready');
    assert.equal(await it.state(), 'INVESTIGATING');
  });

  it('is cancelled by a stop of the daemon, told, and asked again', async (t) => {
    const { it, id, asked, answer, record } = await scene(t);
    const question = await asked();
    await it.running.restart();
    await it.until(id, 'paused');
    assert.deepEqual(await resolutionOf(it, id), {
      ...{ action: 'cancel', by: 'daemon', content: undefined },
    });
    assert.match(record(), /It was not answered:/);
    assert.equal((await answer(question, POSTGRES)).status, 409);
    assert.deepEqual(
      (await attention(it)).map(({ kind }) => kind),
      ['paused'],
    );
    assert.equal((await it.control('resume')).status, 200);
    assert.equal((await answer(await asked(2), POSTGRES)).status, 200);
    await it.until(id, 'plan_ready');
    assert.equal(await it.state(), 'INVESTIGATING');
  });
});
