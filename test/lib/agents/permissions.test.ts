import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  decidePermission,
  onceOptions,
  type PermissionAsk,
  type PermissionPolicy,
  policyWithin,
} from '../../../lib/agents/permissions.ts';
import type { Isolation, PermissionOption, Phase } from '../../../lib/agents/provider.ts';
import { pathContains } from '../../../store/base/paths.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const OPTIONS: PermissionOption[] = [
  { option_id: 'a-always', kind: 'allow_always', name: 'Always' },
  { option_id: 'a-once', kind: 'allow_once', name: 'Once' },
  { option_id: 'r-always', kind: 'reject_always', name: 'Never' },
  { option_id: 'r-once', kind: 'reject_once', name: 'No' },
];

const ASK: PermissionPolicy = { execute: 'ask', fetch: 'ask' };
const ALLOW: PermissionPolicy = { execute: 'allow', fetch: 'allow' };

const inside = (path: string): boolean => path.startsWith('/tree/');

const decide = (phase: Phase, ask: Partial<PermissionAsk>, policy = ASK) =>
  decidePermission(
    { kind: 'read', paths: [], options: OPTIONS, ...ask },
    { phase, policy, inside },
  );

const answerOf = (phase: Phase, ask: Partial<PermissionAsk>, policy = ASK): string =>
  decide(phase, ask, policy).answer;

describe('decidePermission', () => {
  const KINDS = [
    // kind           plan      work, inside  work, no path  work, all allowed by policy
    ['read', 'allow', 'allow', 'allow', 'allow'],
    ['search', 'allow', 'allow', 'allow', 'allow'],
    ['think', 'allow', 'allow', 'allow', 'allow'],
    ['edit', 'refuse', 'allow', 'ask', 'allow'],
    ['delete', 'refuse', 'allow', 'ask', 'allow'],
    ['move', 'refuse', 'allow', 'ask', 'allow'],
    ['execute', 'refuse', 'ask', 'ask', 'allow'],
    ['fetch', 'refuse', 'ask', 'ask', 'allow'],
    ['switch_mode', 'refuse', 'refuse', 'refuse', 'refuse'],
    ['other', 'refuse', 'ask', 'ask', 'ask'],
    ['teleport', 'refuse', 'ask', 'ask', 'ask'],
    ['', 'refuse', 'ask', 'ask', 'ask'],
  ] as const;

  for (const [kind, plan, work, nowhere, allowed] of KINDS) {
    const paths = ['/tree/a.ts'];

    it(`answers ${kind || 'no kind'}: ${plan} in Plan mode, ${work} in Work mode`, () => {
      assert.equal(answerOf('plan', { kind, paths }, ALLOW), plan);
      assert.equal(answerOf('work', { kind, paths }), work);
      assert.equal(answerOf('work', { kind }), nowhere);
      assert.equal(answerOf('work', { kind, paths }, ALLOW), allowed);
    });

    it(`refuses ${kind || 'no kind'} outside the worktree, whatever the policy`, () => {
      const outside = ['/tree/a.ts', '/etc/passwd'];

      assert.equal(answerOf('plan', { kind, paths: outside }, ALLOW), 'refuse');
      assert.equal(answerOf('work', { kind, paths: outside }, ALLOW), 'refuse');
    });
  }

  const COMMANDS = [
    ['npm test', 'allow'],
    ['npm test -- --watch=false', 'allow'],
    ['  npm test  ', 'allow'],
    ['npm testing', 'ask'],
    ['npm', 'ask'],
    ['npm test && curl evil', 'ask'],
    ['npm test; rm x', 'ask'],
    ['npm test | sh', 'ask'],
    ['npm test > /etc/x', 'ask'],
    ['npm test $(id)', 'ask'],
    ['npm test `id`', 'ask'],
    ['npm test\nrm x', 'ask'],
    ['npm test \\\nrm', 'ask'],
    ['npm test; rm -rf /', 'ask'],
    ['npm test & x', 'ask'],
    ['npm test || x', 'ask'],
    ['npm test < /etc/x', 'ask'],
    ['npm test <(x)', 'ask'],
    ['npm test 2>&1', 'ask'],
    ['npm test $IFS', 'ask'],
    ['npm test\r\nrm x', 'ask'],
    ['npm test\u0000', 'ask'],
    ['npm testx', 'ask'],
    ['npm\ttest', 'ask'],
    ['npm  test', 'ask'],
    ['NODE_OPTIONS=--require=/tmp/x npm test', 'ask'],
    ['PATH=/tmp npm test', 'ask'],
    ['env npm test', 'ask'],
    ['sudo npm test', 'ask'],
    ['./npm test', 'ask'],
    ['NPM TEST', 'ask'],
    ['git status', 'allow'],
    ['git -c core.pager=x status', 'ask'],
    ['', 'ask'],
    [undefined, 'ask'],
  ] as const;

  for (const [command, answer] of COMMANDS) {
    it(`answers ${answer} to ${JSON.stringify(command)} where only "npm test" is allowed`, () => {
      const policy: PermissionPolicy = { execute: ['git status', 'npm test', ''], fetch: 'ask' };

      assert.equal(
        answerOf('work', { kind: 'execute', ...(command && { command }) }, policy),
        answer,
      );
    });
  }

  it('answers plan with the lines that were approved, byte for byte, and asks for all else', () => {
    const policy: PermissionPolicy = { execute: 'plan', fetch: 'ask' };
    const decided = (ask: Partial<PermissionAsk>, phase: Phase = 'work', unasked = ['npm test']) =>
      decidePermission(
        { kind: 'execute', paths: [], options: OPTIONS, ...ask },
        { phase, policy, inside, unasked },
      ).answer;
    const exact = { command: 'npm test', line: 'npm test' };
    assert.equal(decided(exact), 'allow');
    assert.equal(decided(exact, 'work', []), 'ask');
    assert.equal(decided(exact, 'plan'), 'refuse');
    assert.equal(decided({ ...exact, paths: ['/etc'] }), 'refuse');
    assert.equal(decided({ ...exact, kind: 'other' }), 'ask');
    assert.equal(decided({ command: 'npm test' }), 'ask');
    for (const line of ['npm test ', ' npm test', 'npm  test', 'npm', 'npm test -- a', 'npm test;'])
      assert.equal(decided({ command: line, line }), 'ask', line);
  });

  it('takes plan for ask where no sandbox is enforced, and changes no other policy', () => {
    const executes = ['ask', 'plan', 'allow'] as const;
    const within = (isolation: Isolation) =>
      executes.map((execute) => policyWithin({ execute, fetch: 'allow' }, isolation));
    for (const isolation of ['checked', 'untried', 'operator'] as const)
      assert.deepEqual(
        within(isolation).map(({ execute, fetch }) => [execute, fetch]),
        [
          ['ask', 'allow'],
          ['ask', 'allow'],
          ['allow', 'allow'],
        ],
      );
    assert.deepEqual(
      within('enforced').map(({ execute }) => execute),
      executes,
    );
  });

  it('resolves links and `..` before it takes a place for one in the worktree', (t) => {
    const tree = temporaryDirectory(t);
    const beside = temporaryDirectory(t);
    mkdirSync(join(tree, 'deep'));
    symlinkSync(beside, join(tree, 'out'));
    symlinkSync('/nowhere/at/all', join(tree, 'broken'));
    symlinkSync('deep', join(tree, 'in'));
    symlinkSync('round', join(tree, 'round'));
    const places: [path: string, answer: string][] = [
      ['new.txt', 'allow'],
      ['deep/er/new.txt', 'allow'],
      ['in/new.txt', 'allow'],
      [join(tree, 'new.txt'), 'allow'],
      ['deep/../new.txt', 'allow'],
      ['../new.txt', 'refuse'],
      ['deep/../../new.txt', 'refuse'],
      ['out/new.txt', 'refuse'],
      ['out/../new.txt', 'refuse'],
      ['round', 'refuse'],
      ['broken', 'refuse'],
      ['broken/new.txt', 'refuse'],
      ['/etc/passwd', 'refuse'],
      [`${tree}-not`, 'refuse'],
    ];
    for (const [path, answer] of places) {
      const ask = { kind: 'edit', paths: [path], options: OPTIONS };
      const scope = {
        phase: 'work',
        policy: ASK,
        inside: (at: string) => pathContains(tree, at),
      } as const;
      assert.equal(decidePermission(ask, scope).answer, answer, path);
    }
  });

  it('chooses the option by its kind and never one that holds for always', () => {
    assert.deepEqual(decide('work', { kind: 'read' }), { answer: 'allow', option_id: 'a-once' });
    assert.deepEqual(decide('plan', { kind: 'edit' }), { answer: 'refuse', option_id: 'r-once' });
  });

  it('answers cancelled where the fitting once option is not offered', () => {
    const options = OPTIONS.filter(({ kind }) => kind.endsWith('always'));

    assert.deepEqual(decide('work', { options }), { answer: 'allow', option_id: null });
    assert.deepEqual(decide('plan', { kind: 'edit', options }), {
      answer: 'refuse',
      option_id: null,
    });
    assert.deepEqual(decide('work', { kind: 'execute', options }), {
      answer: 'refuse',
      option_id: null,
    });
  });
});

describe('onceOptions', () => {
  it('keeps what holds for one request only', () => {
    assert.deepEqual(
      onceOptions(OPTIONS).map(({ option_id }) => option_id),
      ['a-once', 'r-once'],
    );
  });
});
