import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createQuestionRequests } from '../../../../lib/agents/acp/question-requests.ts';
import type { QuestionEvent } from '../../../../store/records/question.ts';

const PROPERTIES = { name: { type: 'string' }, key_id: { type: 'string' } };
const NAME = {
  ...{ sessionId: 's', mode: 'form', message: 'What is it called?' },
  requestedSchema: { type: 'object', properties: PROPERTIES, required: ['name'] },
};
const never = new AbortController().signal;

const openDesk = (attended = true) => {
  const events: QuestionEvent[] = [];
  const waiting: boolean[] = [];
  const desk = createQuestionRequests({
    attended,
    tell: (event) => events.push(event),
    onWaiting: (is) => waiting.push(is),
  });
  const asked = (): string[] =>
    events.flatMap(({ type, data }) => (type === 'question_request' ? data.question_id : []));
  const last = () => {
    const event = events.at(-1);
    return event?.type === 'question_resolved' ? event.data : undefined;
  };
  return { desk, events, waiting, asked, last };
};

describe('the question desk', () => {
  it('asks the operator, and hands over the first answer that fits', async () => {
    const { desk, asked, last, waiting } = openDesk();
    assert.equal(desk.asked(), false);
    const answer = desk.ask(NAME, never);
    const [id = ''] = asked();
    assert.deepEqual([waiting, desk.asked()], [[true], true]);
    assert.throws(() => desk.reply(id, { action: 'accept', content: {} }), {
      code: 'answer_invalid',
    });
    assert.throws(() => desk.reply(id, { action: 'decline', content: { name: 'x' } }), {
      code: 'answer_invalid',
    });
    assert.equal(desk.reply('unknown', { action: 'decline' }), false);
    const content = { name: 'a\u202eb', key_id: 'c\u200bd' };
    assert.equal(desk.reply(id, { action: 'accept', content }), true);
    assert.equal(desk.reply(id, { action: 'decline' }), false);
    assert.deepEqual(await answer, { action: 'accept', content });
    assert.deepEqual(last(), {
      ...{ question_id: id, message: 'What is it called?', action: 'accept', by: 'operator' },
      content: { name: 'a⟦U+202E⟧b', key_id: 'c⟦U+200B⟧d' },
    });
    assert.deepEqual(waiting, [true, false]);
  });

  it('declines what cannot be asked, and says why', async () => {
    const { desk, events, last } = openDesk();
    assert.deepEqual(await desk.ask({ ...NAME, mode: 'url' }, never), { action: 'decline' });
    assert.equal(events.length, 1);
    assert.match(last()?.reason ?? '', /address/);
    assert.equal(last()?.by, 'daemon');
  });

  it('declines all where nobody answers', async () => {
    const { desk, last } = openDesk(false);
    assert.deepEqual(await desk.ask(NAME, never), { action: 'decline' });
    assert.equal(last()?.reason, 'This session cannot ask the operator.');
  });

  it('has ten open at the most', async () => {
    const { desk, asked, last } = openDesk();
    for (let nth = 0; nth < 10; nth += 1) void desk.ask(NAME, never);
    assert.deepEqual(await desk.ask(NAME, never), { action: 'decline' });
    assert.match(last()?.reason ?? '', /10 questions are already open/);
    assert.equal(asked().length, 10);
  });

  it('hears a turn a hundred times at the most, and tells of no more', async () => {
    const { desk, events, last } = openDesk();
    for (let nth = 0; nth < 200; nth += 1) await desk.ask({ ...NAME, mode: 'url' }, never);
    assert.equal(events.length, 101);
    assert.match(last()?.reason ?? '', /100 questions/);
    assert.deepEqual(await desk.ask(NAME, never), { action: 'decline' });
  });

  it('cancels all that is open and all that still comes once it is closed', async () => {
    const { desk, asked, last } = openDesk();
    const open = desk.ask(NAME, never);
    desk.close();
    assert.deepEqual(await open, { action: 'cancel' });
    assert.deepEqual([last()?.action, last()?.by], ['cancel', 'daemon']);
    assert.equal(desk.reply(asked()[0] ?? '', { action: 'decline' }), false);
    assert.deepEqual(await desk.ask(NAME, never), { action: 'cancel' });
    assert.equal(asked().length, 1);
  });

  it('forgets what the agent takes back', async () => {
    const { desk, asked, last } = openDesk();
    const taken = new AbortController();
    const open = desk.ask(NAME, taken.signal);
    taken.abort();
    assert.deepEqual(await open, { action: 'cancel' });
    assert.equal(last()?.by, 'agent');
    assert.equal(desk.reply(asked()[0] ?? '', { action: 'decline' }), false);
  });
});
