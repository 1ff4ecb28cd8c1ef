import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Settings } from '../../../../store/records/settings.ts';
import { withPart } from '../../../../store/settings/trust/keys.ts';
import { looseningKeys, sendsNoMore } from '../../../../store/settings/trust/tightening.ts';

type Row = [key: string, held: unknown, now: unknown, holds: boolean];

const ROWS: Row[] = [
  ['provider', 'claude', undefined, true],
  ['provider', 'claude', 'runbook', true],
  ['provider', 'claude', 'manual', true],
  ['provider', undefined, 'manual', true],
  ['provider', 'manual', undefined, false],
  ['provider', undefined, 'claude', false],
  ['provider', 'gone', undefined, false],
  ['provider', undefined, 'gone', false],
  ['provider', 'gone', 'manual', true],
  ['providers.x', { kind: 'acp', command: 'a' }, undefined, true],
  ['providers.x', undefined, { kind: 'acp', command: 'a' }, false],
  ['providers.x', { kind: 'acp', command: 'a' }, { kind: 'acp', command: 'b' }, false],
  ['providers.x', { kind: 'acp', network: 'proxy' }, { kind: 'acp', network: 'host' }, false],
  ['providers.x', { kind: 'acp', network: 'host' }, { kind: 'acp' }, true],
  ['providers.x', { kind: 'acp', network: { allow: ['a.com'] } }, { kind: 'acp' }, false],
  ['providers.x', { kind: 'acp', network: { allow: ['a.com'] } }, undefined, true],
  ['providers.x', { kind: 'acp' }, { kind: 'acp', allow_local: ['127.0.0.1:1'] }, false],
  ['providers.x', { kind: 'acp', model: 'm' }, { kind: 'acp' }, true],
  ['providers.x', { kind: 'acp', model: 'm' }, { kind: 'acp', model: 'n' }, false],
  ['providers.claude', { kind: 'acp', network: { allow: ['a.com'] } }, undefined, false],
  ['providers.claude', { kind: 'acp', command: 'wrapped-claude' }, undefined, false],
  ['providers.claude', { kind: 'acp', modes: { work: 'default' } }, undefined, false],
  ['providers.claude', { kind: 'acp', model: 'm', network: 'host' }, undefined, true],
  ['providers.claude', undefined, { kind: 'acp', network: { allow: ['a.com'] } }, true],
  ['providers.claude', undefined, { kind: 'acp', env: { A: 'b' } }, false],
  ['providers.runbook', { kind: 'acp', command: 'a' }, undefined, false],
  ['projects.app', '/a', undefined, true],
  ['projects.app', undefined, '/a', false],
  ['projects.app', '/a', '/b', false],
  ['sandbox', 'off', 'auto', true],
  ['sandbox', 'off', undefined, true],
  ['sandbox', 'auto', undefined, true],
  ['sandbox', undefined, 'off', false],
  ['sandbox', 'seatbelt', 'auto', false],
  ['sandbox', 'off', 'seatbelt', false],
  ['sandbox_readable', ['~/a', '~/b'], ['~/b'], true],
  ['sandbox_readable', ['~/a'], undefined, true],
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
  ['env.A', 'b', undefined, true],
  ['env.A', 'b', 'c', false],
  ['env.A', undefined, { inherit: true }, false],
  ['permissions.execute', 'allow', 'ask', true],
  ['permissions.execute', 'allow', ['npm test'], true],
  ['permissions.execute', ['npm test', 'ls'], ['ls'], true],
  ['permissions.execute', ['ls'], 'allow', false],
  ['permissions.execute', undefined, ['ls'], false],
  ['permissions.execute', 'ask', [], true],
  ['permissions.execute', undefined, 'ask', true],
  ['permissions.execute', 'plan', [], true],
  ['permissions.execute', 'allow', undefined, true],
  ['permissions.execute', 'ask', undefined, false],
  ['permissions.execute', 'ask', 'plan', false],
  ['permissions.execute', ['ls'], 'plan', false],
  ['permissions.execute', 'plan', 'allow', false],
  ['permissions.fetch', 'allow', undefined, true],
  ['permissions.fetch', undefined, 'allow', false],
  ['worktrees.root', '/elsewhere', undefined, true],
  ['worktrees.root', undefined, '/elsewhere', false],
  ['worktrees.base_branch', 'release', undefined, true],
  ['worktrees.base_branch', undefined, 'release', false],
  ['worktrees.base_branch', 'release', 'main', false],
  ['worktrees.setup', ['a', 'b', 'c'], ['a', 'c'], true],
  ['worktrees.setup', ['a', 'b'], ['b', 'a'], false],
  ['worktrees.setup', ['a'], ['a', 'a'], false],
  ['worktrees.copy_files', ['.env', '.key'], ['.env'], true],
  ['worktrees.copy_files', ['.env'], ['**'], false],
  ['worktrees.share', ['node_modules', 'vendor'], ['vendor'], true],
  ['worktrees.share', undefined, ['node_modules'], false],
  ['language_servers.rust', { command: 'ra' }, undefined, false],
  ['language_servers.rust', undefined, { command: 'ra' }, false],
  ['codehost.api_url', 'https://a', undefined, false],
  ['codehost.api_url', 'https://a', 'https://b', false],
  ['codehost.push_remote', 'mine', undefined, false],
  ['codehost.timeout_seconds', 90, undefined, true],
  ['require_key', undefined, true, true],
  ['require_key', true, undefined, false],
  ['require_key', true, false, false],
];

const settingsOf = (parts: Record<string, unknown>): Settings =>
  Object.entries(parts).reduce((all, [key, value]) => withPart(all, key, value), {});

const waiting = (held: Record<string, unknown>, now: Record<string, unknown>): string[] =>
  [...looseningKeys(settingsOf(held), settingsOf(now))].toSorted();

describe('looseningKeys: one key', () => {
  for (const [key, held, now, holds] of ROWS)
    it(`${key}: ${JSON.stringify(held)} to ${JSON.stringify(now)} ${holds ? 'holds at once' : 'waits'}`, () =>
      assert.deepEqual(waiting({ [key]: held }, { [key]: now }), holds ? [] : [key]));
});

const AGENT = { kind: 'acp', command: 'agent' };
const PROXY = { ...AGENT, network: 'proxy' };
const FEW = { ...AGENT, network: { allow: ['a.com'] } };

describe('looseningKeys: several keys', () => {
  it('names the own network of a provider that is taken away, where that of all is wider', () => {
    const held = { network: 'host', 'providers.x': PROXY };
    assert.deepEqual(waiting(held, { network: 'host', 'providers.x': AGENT }), ['providers.x']);
    assert.deepEqual(waiting({ 'providers.x': PROXY }, { 'providers.x': AGENT }), []);
    const preset = { network: 'host', 'providers.claude': { kind: 'acp', network: 'proxy' } };
    assert.deepEqual(waiting(preset, { network: 'host' }), ['providers.claude']);
  });

  it('names none where what one key opens another closes', () => {
    const held = { network: 'host', 'providers.x': PROXY };
    assert.deepEqual(waiting(held, { 'providers.x': AGENT }), []);
  });

  it('names both of two that loosen only together', () => {
    const held = { network: 'proxy', 'providers.claude': { kind: 'acp', network: 'proxy' } };
    assert.deepEqual(waiting(held, { network: 'host' }), ['network', 'providers.claude']);
  });

  it('names also what would loosen for the sake of a key that waits', () => {
    const entry = { kind: 'acp', network: 'proxy' };
    const held = { network: 'host', 'providers.claude': entry, 'providers.x': FEW };
    const all = ['network', 'providers.claude', 'providers.x'];
    assert.deepEqual(waiting(held, { 'providers.x': AGENT }), all);
    assert.deepEqual(waiting(held, { 'providers.x': FEW }), []);
  });

  it('names the network of all for each that goes by it, an agent known by name and the runbook too', () => {
    const held = { network: { allow: ['a.com'] }, 'providers.x': FEW };
    assert.deepEqual(waiting(held, { network: 'proxy', 'providers.x': FEW }), ['network']);
  });

  it('leaves alone what has nothing to do with what waits', () => {
    const held = { sandbox: 'off', network: 'host', 'worktrees.setup': ['a', 'b'] };
    const now = { network: 'proxy', 'worktrees.setup': ['c'], 'providers.x': AGENT };
    assert.deepEqual(waiting(held, now), ['providers.x', 'worktrees.setup']);
  });

  it('names the provider of new sessions where another reaches more', () => {
    const held = { provider: 'x', 'providers.x': FEW };
    assert.deepEqual(waiting(held, { 'providers.x': FEW }), ['provider']);
    assert.deepEqual(waiting(held, {}), ['provider', 'providers.x']);
    assert.deepEqual(waiting(held, { provider: 'x' }), []);
    assert.deepEqual(waiting({ provider: 'x' }, {}), ['provider'], 'nothing was started');
  });

  it('lets a local service move from all to one provider, and not back', () => {
    const local = { allow_local: ['127.0.0.1:1'] };
    const [all, own] = [
      { ...local, 'providers.x': AGENT },
      { 'providers.x': { ...AGENT, ...local } },
    ];
    assert.deepEqual(waiting(all, own), []);
    assert.deepEqual(waiting(own, all), ['allow_local']);
  });
});

const URL = 'http://a';

const RECEIVERS: [held: object | undefined, now: object | undefined, holds: boolean][] = [
  [{ url: URL }, undefined, true],
  [undefined, { url: URL }, false],
  [{ url: URL }, { url: 'http://b' }, false],
  [{ url: URL }, { url: URL, events: ['case_updated'] }, true],
  [{ url: URL, events: ['case_updated'] }, { url: URL }, false],
  [{ url: URL }, { url: URL, events: ['*'] }, true],
  [{ url: URL }, { url: URL, events: ['problem_found'] }, false],
  [{ url: URL, events: ['*'] }, { url: URL, events: ['permission_requested'] }, false],
  [{ url: URL, events: ['*'] }, { url: URL, events: ['*', 'case_deleted'] }, false],
  [{ url: URL, events: ['*', 'case_deleted'] }, { url: URL, events: ['case_deleted'] }, true],
  [{ url: URL, events: ['*', 'case_updated'] }, { url: URL, events: ['*'] }, true],
  [{ url: URL, events: ['*', 'case_deleted'] }, { url: URL }, true],
];

describe('sendsNoMore', () => {
  for (const [held, now, holds] of RECEIVERS)
    it(`${JSON.stringify(held)} to ${JSON.stringify(now)} ${holds ? 'holds at once' : 'waits'}`, () =>
      assert.equal(sendsNoMore(held, now), holds));
});
