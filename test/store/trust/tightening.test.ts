import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tightens } from '../../../store/trust/tightening.ts';

type Row = [key: string, held: unknown, now: unknown, holds: boolean];

const ROWS: Row[] = [
  ['provider', 'claude', undefined, true],
  ['provider', 'claude', 'runbook', true],
  ['provider', undefined, 'claude', false],
  ['providers.x', { kind: 'acp', command: 'a' }, undefined, true],
  ['providers.x', { kind: 'acp', command: 'a' }, { kind: 'acp', command: 'b' }, false],
  ['providers.x', { kind: 'acp', network: { allow: ['a.com'] } }, undefined, false],
  ['projects.app', '/a', undefined, true],
  ['projects.app', undefined, '/a', false],
  ['sandbox', 'off', 'auto', true],
  ['sandbox', 'off', undefined, true],
  ['sandbox', undefined, 'off', false],
  ['sandbox', 'seatbelt', 'auto', false],
  ['sandbox_readable', ['~/a', '~/b'], ['~/b'], true],
  ['sandbox_readable', ['~/a'], ['~/a', '~/.ssh'], false],
  ['network', 'host', undefined, true],
  ['network', 'host', 'proxy', true],
  ['network', undefined, 'host', false],
  ['network', undefined, { allow: ['a.com'] }, true],
  ['network', { allow: ['a.com', 'b.com'] }, { allow: ['b.com'] }, true],
  ['network', { allow: ['a.com'] }, { allow: ['a.com', 'b.com'] }, false],
  ['network', { allow: ['a.com'] }, undefined, false],
  ['network', { allow: ['a.com'] }, 'proxy', false],
  ['allow_local', ['127.0.0.1:1'], undefined, true],
  ['allow_local', undefined, ['127.0.0.1:1'], false],
  ['permissions.execute', 'allow', 'ask', true],
  ['permissions.execute', 'allow', ['npm test'], true],
  ['permissions.execute', ['npm test', 'ls'], ['ls'], true],
  ['permissions.execute', ['ls'], 'allow', false],
  ['permissions.execute', undefined, ['ls'], false],
  ['permissions.execute', 'ask', [], true],
  ['permissions.fetch', 'allow', undefined, true],
  ['permissions.fetch', undefined, 'allow', false],
  ['worktrees.root', '/elsewhere', undefined, true],
  ['worktrees.root', undefined, '/elsewhere', false],
  ['worktrees.setup', ['a', 'b', 'c'], ['a', 'c'], true],
  ['worktrees.setup', ['a', 'b'], ['b', 'a'], false],
  ['worktrees.setup', ['a'], ['a', 'a'], false],
  ['worktrees.copy_files', ['.env', '.key'], ['.env'], true],
  ['worktrees.copy_files', ['.env'], ['**'], false],
  ['language_servers.rust', { command: 'ra' }, undefined, true],
  ['language_servers.rust', undefined, { command: 'ra' }, false],
  ['codehost.api_url', 'https://a', undefined, true],
  ['codehost.api_url', 'https://a', 'https://b', false],
  ['require_key', undefined, true, true],
  ['require_key', true, undefined, false],
  ['require_key', true, false, false],
  ['webhooks/1', { url: 'http://a' }, undefined, true],
  ['webhooks/1', { url: 'http://a' }, { url: 'http://a', events: ['case_resolved'] }, true],
  ['webhooks/1', { url: 'http://a', events: ['case_resolved'] }, { url: 'http://a' }, false],
  ['webhooks/1', { url: 'http://a' }, { url: 'http://b' }, false],
  ['webhooks/1', undefined, { url: 'http://a' }, false],
];

describe('tightens', () => {
  for (const [key, held, now, holds] of ROWS)
    it(`${key}: ${JSON.stringify(held)} to ${JSON.stringify(now)} ${holds ? 'holds at once' : 'waits'}`, () =>
      assert.equal(tightens(key, held, now), holds));
});
