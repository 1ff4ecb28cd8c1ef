import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eventually } from '../../helpers/eventually.ts';
import { planning, type Tried } from './checks.ts';
import { startSession } from './session.ts';

const OPTIONS = [
  { label: 'plus', description: 'It adds' },
  { label: 'minus', description: 'It subtracts' },
];
const ASK = {
  tool: 'AskUserQuestion',
  args: {
    questions: [
      { question: 'Which sign is meant?', header: 'Sign', options: OPTIONS, multiSelect: false },
    ],
  },
};

/** What Claude Code asks in Plan mode reaches the operator, and the operator's answer its model. */
export const questions = async (t: TestContext, tried: Tried): Promise<void> => {
  const steps = [[ASK], ...planning.steps.slice(-1)];
  const rules = [{ ...planning, steps }];
  const session = await startSession(t, { ...tried, sandbox: 'auto', rules });
  const { data } = await eventually(async () => {
    const asked = (await session.events()).find(({ event }) => event === 'question_request');
    assert.ok(asked, 'It asks nothing');
    return asked;
  });
  const fields = data.fields as { name: string; options?: { value: string }[] }[];
  const sign = fields.find(({ options }) => options?.some(({ value }) => value === 'plus'));
  assert.ok(sign, JSON.stringify(fields));
  assert.equal(data.message, 'Which sign is meant?');
  const content = { [sign.name]: 'plus' };
  await session.post(`questions/${data.question_id}`, { action: 'accept', content });
  await session.until('plan_ready');
  const [answer] = session.model.requests.flatMap(({ results }) => results);
  assert.match(answer ?? '', /Which sign is meant\?.*plus/);
};
