/** The model and the effort of a session, with an agent that says what was set. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ProviderInfo } from '../../lib/agents/provider.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { type Problem, type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const choosing = (t: TestContext, behaviour = 'choose', more = ''): Promise<SessionTest> => {
  const options = withAgent(t, behaviour);
  return withCase(t, 'Do it.', { ...options, settings: `${options.settings}${more}` });
};

const DEEP = { model: 'deep', effort: 'high' };
const SET = 'Chosen: brain=deep thinking=high.';

const wordsOf = async (test: SessionTest, id: string): Promise<string[]> =>
  (await test.eventsOf(id))
    .filter(({ event }) => event === 'message')
    .map(({ data }) => `${data.text}`);

const refused = async (test: SessionTest, body: object) => {
  const answer = await test.post('/sessions', { type: 'implementing', ...body });
  const { code, detail, choices } = answer.body as unknown as Problem & { choices?: string[] };
  return { status: answer.status, code, detail, choices };
};

describe('model and effort of a session', () => {
  it('are set before the first prompt of each turn, kept in session.md and told', async (t) => {
    const test = await choosing(t);
    const { id, ...made } = await test.start(DEEP);
    assert.deepEqual([made.model, made.effort], ['deep', 'high']);
    await test.until(id, 'plan_ready');
    const { data } = await test.untilEvent(id, 'agent_state');
    assert.deepEqual(data.options, [
      { id: 'brain', name: 'model', category: 'model', value: 'deep' },
      { id: 'thinking', name: 'effort', category: 'thought_level', value: 'high' },
    ]);
    await test.post(`/sessions/${id}/approve`);
    await eventually(async () => assert.deepEqual(await wordsOf(test, id), [SET, SET]));
    await test.control('pause');
    await test.until(id, 'paused');
    await test.running.restart();
    assert.equal((await test.control('resume')).status, 200);
    const { model, effort } = await test.until(id, 'completed');
    assert.deepEqual({ model, effort }, DEEP);
    assert.deepEqual(await wordsOf(test, id), [SET, SET, SET]);
    const record = readFileSync(join(newestSession(test.running, test.item), 'session.md'), 'utf8');
    assert.match(record, /^model: deep\neffort: high$/m);
    assert.match(record, /agent \(model `deep`, effort `high`\) worked on/);
  });

  it('are chosen again where the conversation begins anew because it does not tell them', async (t) => {
    const test = await choosing(t, 'choose-silent');
    const { id } = await test.worked('completed', DEEP);
    assert.deepEqual(await wordsOf(test, id), [SET, SET]);
    const { data } = await test.untilEvent(id, 'agent_event');
    assert.equal(data.kind, 'session_not_resumed');
  });

  it('are set by the request of former releases where the agent knows no other', async (t) => {
    const test = await choosing(t, 'choose-old');
    const { id } = await test.planned({ model: 'deep' });
    assert.deepEqual(await wordsOf(test, id), ['Chosen: brain=deep.']);
    const { choices, detail } = await refused(test, DEEP);
    assert.deepEqual(choices, []);
    assert.match(detail, /agent offers no choice of effort\. Leave effort out/);
  });

  it('are left as they are where nobody chooses', async (t) => {
    const test = await choosing(t);
    const session = await test.start();
    assert.ok(!('model' in session) && !('effort' in session));
    await test.until(session.id, 'plan_ready');
    assert.deepEqual(await wordsOf(test, session.id), ['Chosen: nothing.']);
  });

  it('fail the session before anything runs where only the agent knew that it has no such, and then 422', async (t) => {
    const test = await choosing(t);
    const { id } = await test.start({ model: 'wise' });
    const { error } = await test.until(id, 'failed');
    const why = 'agent does not offer the model wise. It offers fast, deep.';
    assert.equal(error, `${why} Nothing was run.`);
    assert.deepEqual(await wordsOf(test, id), []);
    assert.deepEqual(await refused(test, { model: 'wise' }), {
      ...{ status: 422, code: 'choice_not_offered', detail: why, choices: ['fast', 'deep'] },
    });
    const withoutEffort = await refused(test, { model: 'fast', effort: 'high' });
    assert.deepEqual([withoutEffort.status, withoutEffort.choices], [422, []]);
    const { body } = await test.running.call<ProviderInfo[]>('GET', '/providers');
    assert.deepEqual(body.find((info) => info.id === 'agent')?.offers, {
      models: [
        { value: 'fast', name: 'FAST' },
        { value: 'deep', name: 'DEEP' },
      ],
      efforts: [],
    });
  });

  it('are never the mode', async (t) => {
    const test = await choosing(t);
    const { id } = await test.start({ model: 'acceptEdits' });
    assert.match(
      (await test.until(id, 'failed')).error ?? '',
      /does not offer the model acceptEdits/,
    );
    const effort = await test.start({ model: 'deep', effort: 'acceptEdits' });
    const { error } = await test.until(effort.id, 'failed');
    assert.match(error ?? '', /does not offer the effort acceptEdits\. It offers low, high/);
  });

  it('are those of the settings where a session names none', async (t) => {
    const test = await choosing(t, 'choose', '\n    model: deep\n    effort: high');
    const usual = await test.start();
    assert.deepEqual([usual.model, usual.effort], ['deep', 'high']);
    const own = await test.post('/sessions', { type: 'implementing', model: 'fast' });
    assert.deepEqual([own.body.model, own.body.effort], ['fast', undefined]);
    const { body } = await test.running.call<{ model: string }>('POST', '/api/sessions/queue', {
      ...{ case_id: test.item.id, effort: 'low' },
    });
    assert.deepEqual({ ...body, model: 'deep', effort: 'low' }, body);
  });

  it('are 422 for the providers that have none', async (t) => {
    const mine = 'providers:\n  mine: { kind: command, preset: claude, plan: [cat], work: [cat] }';
    const test = await withCase(t, 'Do it.', { settings: mine });
    for (const provider of ['runbook', 'manual', 'mine'])
      for (const choice of [{ model: 'x' }, { effort: 'x' }]) {
        const { status, code, detail } = await refused(test, { provider, ...choice });
        assert.deepEqual([status, code], [422, 'choice_not_offered'], provider);
        assert.match(detail, new RegExp(`${provider} offers no choice of ${Object.keys(choice)}`));
      }
    assert.deepEqual((await test.running.call('GET', `${test.at}/sessions`)).body, []);
  });

  it('are refused where they could be taken for more than a name, in session.md too', async (t) => {
    const test = await choosing(t);
    const wrong = [
      '',
      '-x',
      '--dangerously-skip',
      'a\nb',
      'a\0b',
      ' x',
      'x ',
      'é',
      'x'.repeat(10_000),
    ];
    for (const value of wrong)
      for (const what of ['model', 'effort']) {
        const { status, code } = await refused(test, { [what]: value });
        assert.deepEqual([status, code], [400, 'bad_request'], JSON.stringify(value));
      }
    const { id } = await test.planned(DEEP);
    const file = join(newestSession(test.running, test.item), 'session.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('model: deep', 'model: "--deep"'));
    const approved = await test.post(`/sessions/${id}/approve`);
    assert.deepEqual([approved.status, approved.body.code], [409, 'unreadable_record']);
  });
});
