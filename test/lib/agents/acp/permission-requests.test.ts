import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPermissionRequests } from '../../../../lib/agents/acp/permission-requests.ts';
import { mergeToolCall } from '../../../../lib/agents/acp/tool-call.ts';
import type { AllowedInProject, RunEvent } from '../../../../lib/agents/provider.ts';

const OPTIONS = [
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'a', name: 'Always', kind: 'allow_always' },
  { optionId: 'n', kind: 'reject_once' },
  { optionId: 'z', name: 'Perhaps', kind: 'perhaps' },
  'nonsense',
];

const RUN = mergeToolCall(undefined, { toolCallId: '1', title: 'npm test', kind: 'execute' });
const never = new AbortController().signal;

const openDesk = (project?: AllowedInProject, execute: 'ask' | string[] = 'ask') => {
  const events: RunEvent[] = [];
  const waiting: boolean[] = [];
  const desk = createPermissionRequests({
    scope: {
      phase: 'work',
      policy: { execute, fetch: 'ask' },
      cwd: '/tree',
      inside: () => true,
      prefixes: [],
    },
    tell: (event) => events.push(event),
    onWaiting: (is) => waiting.push(is),
    ...(project !== undefined && { project }),
  });
  const requests = (): string[] =>
    events.flatMap((event) => (event.type === 'permission_request' ? event.data.request_id : []));
  return { desk, events, waiting, requests };
};

const byOf = (event?: RunEvent) =>
  event?.type === 'permission_resolved' ? event.data.by : undefined;

const outcome = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });
const CANCELLED = { outcome: { outcome: 'cancelled' } };

describe('the permission desk', () => {
  it('offers the operator only what holds once, and resolves with the answer', async () => {
    const { desk, events, requests } = openDesk();
    const answer = desk.ask(RUN, OPTIONS, never);
    const [request_id = ''] = requests();

    assert.equal(desk.answer(request_id, 'a'), false);
    assert.equal(desk.answer(request_id, 'n'), true);
    assert.deepEqual(await answer, outcome('n'));
    assert.deepEqual(events, [
      {
        type: 'permission_request',
        data: {
          request_id,
          title: 'npm test',
          kind: 'execute',
          options: [
            { option_id: 'y', name: 'Yes', kind: 'allow_once' },
            { option_id: 'n', name: 'n', kind: 'reject_once' },
          ],
        },
      },
      {
        type: 'permission_resolved',
        data: { request_id, title: 'npm test', kind: 'execute', option_id: 'n', by: 'operator' },
      },
    ]);
  });

  for (const allowing of ['allow_prefix', 'allow_project', 'settings'])
    it(`allows by ${allowing} no other directory, variables, input or second command, and shows them`, async () => {
      const test = { command: 'npm test' };
      const allowed: string[] = [];
      const project = { prefixes: () => allowed, allow: (prefix: string) => allowed.push(prefix) };
      const execute = allowing === 'settings' ? ['npm test'] : 'ask';
      const { desk, events, requests } = openDesk(project, execute);
      const ask = (rawInput: object) => {
        const told = { toolCallId: '1', title: 'test', kind: 'execute', rawInput };
        return desk.ask(mergeToolCall(undefined, told), OPTIONS, never);
      };
      const first = ask(test);
      desk.answer(requests()[0] ?? '', allowing);
      await first;
      assert.deepEqual(await ask({ ...test, description: 'Tests', cwd: '/tree' }), outcome('y'));
      for (const other of [
        { cwd: '/tmp' },
        { env: { NODE_OPTIONS: '--require ./evil.js' } },
        { stdin: 'rm -rf /' },
        { cmd: 'rm -rf /' },
        { sandbox: 'off', with_escalated_permissions: true },
      ]) {
        void ask({ ...test, ...other });
        const asked = events.at(-1);
        assert.ok(asked?.type === 'permission_request', JSON.stringify(other));
        const { command, other_arguments, options } = asked.data;
        assert.deepEqual([command, other_arguments], ['npm test', JSON.stringify(other)]);
        assert.deepEqual(
          options.map(({ option_id }) => option_id),
          ['y', 'n'],
        );
      }
    });

  it('asks again for what was allowed in the project, once that is revoked', async () => {
    const allowed: string[] = [];
    const allow = (prefix: string) => void allowed.push(prefix);
    const { desk, requests } = openDesk({ prefixes: () => allowed, allow });
    const call = mergeToolCall(undefined, {
      ...{ toolCallId: '1', title: 'test', kind: 'execute' },
      rawInput: { command: 'npm test' },
    });
    const [first, second] = [desk.ask(call, OPTIONS, never), desk.ask(call, OPTIONS, never)];
    assert.equal(desk.answer(requests()[0] ?? '', 'allow_project'), true);
    assert.deepEqual(await Promise.all([first, second]), [outcome('y'), outcome('y')]);
    assert.deepEqual(await desk.ask(call, OPTIONS, never), outcome('y'));
    allowed.pop();
    void desk.ask(call, OPTIONS, never);
    assert.equal(requests().length, 3);
  });

  it('allows nothing in the project that cannot be kept', () => {
    const allow = () => assert.fail('the disk is full');
    const { desk, requests } = openDesk({ prefixes: () => [], allow });
    const call = mergeToolCall(undefined, {
      ...{ toolCallId: '1', title: 'test', kind: 'execute' },
      rawInput: { command: 'npm test' },
    });
    void desk.ask(call, OPTIONS, never);
    const [asked = ''] = requests();
    assert.throws(() => desk.answer(asked, 'allow_project'), /the disk is full/);
    assert.equal(desk.answer(asked, 'n'), true);
  });

  it('tells that it waits from the first parked request to the last answer', async () => {
    const { desk, waiting, requests } = openDesk();
    const answers = [desk.ask(RUN, OPTIONS, never), desk.ask(RUN, OPTIONS, never)];
    const [first = '', second = ''] = requests();

    assert.deepEqual(waiting, [true]);
    desk.answer(second, 'y');
    assert.deepEqual(waiting, [true]);
    desk.answer(first, 'n');
    assert.deepEqual(waiting, [true, false]);
    assert.deepEqual(await Promise.all(answers), [outcome('n'), outcome('y')]);
  });

  it('answers by policy at once, and tells so', async () => {
    const { desk, events, waiting } = openDesk();
    const call = mergeToolCall(undefined, { toolCallId: '2', title: 'a.ts', kind: 'read' });

    assert.deepEqual(await desk.ask(call, OPTIONS, never), outcome('y'));
    assert.deepEqual(waiting, []);
    assert.deepEqual(
      events.map(({ type, data }) => [type, 'by' in data && data.by]),
      [['permission_resolved', 'policy']],
    );
  });

  it('answers "cancelled" to all that is parked and all that still comes once it is closed', async () => {
    const { desk, events } = openDesk();
    const parked = desk.ask(RUN, OPTIONS, never);

    desk.close();

    assert.deepEqual(await parked, CANCELLED);
    assert.deepEqual(await desk.ask(RUN, OPTIONS, never), CANCELLED);
    assert.equal(events.length, 2);
    assert.equal(byOf(events.at(-1)), 'daemon');
  });

  it('refuses what comes while 100 requests wait, and parks again once one is answered', async () => {
    const { desk, events, requests } = openDesk();
    const parked = Array.from({ length: 100 }, () => desk.ask(RUN, OPTIONS, never));
    assert.deepEqual(await desk.ask(RUN, OPTIONS, never), outcome('n'));
    assert.equal(byOf(events.at(-1)), 'daemon');
    assert.equal(requests().length, 100);

    assert.equal(desk.answer(requests()[0] ?? '', 'y'), true);
    assert.deepEqual(await parked[0], outcome('y'));
    void desk.ask(RUN, OPTIONS, never);
    assert.equal(requests().length, 101);
  });

  it('forgets a request that the agent takes back', async () => {
    const { desk, events, requests } = openDesk();
    const taken = new AbortController();
    const parked = desk.ask(RUN, OPTIONS, taken.signal);

    taken.abort();

    assert.deepEqual(await parked, CANCELLED);
    assert.equal(desk.answer(requests()[0] ?? '', 'y'), false);
    assert.equal(byOf(events.at(-1)), 'agent');
  });
});
