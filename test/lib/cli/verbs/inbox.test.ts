import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandFor } from '../../../../lib/cli/verbs/inbox.ts';
import type { AttentionItem } from '../../../../lib/client/client.ts';

const command = (kind: AttentionItem['kind'], path: string, body?: object): string =>
  commandFor({
    ...{ id: 'x', kind, title: 'One', message: '', since: '2026-11-26T10:00:00Z' },
    ...{ case_id: '0b1c2d3e-1111-4111-8111-111111111111', answer: { method: 'POST', path, body } },
  } as AttentionItem);

describe('the command of an entry of the inbox', () => {
  it('approves a plan that only files say was approved, and trusts everything else that arrived', () => {
    assert.equal(command('trust', '/cases/0b1c/sessions/5/approve'), 'approve 0b1c2d3e');
    assert.equal(command('trust', '/trust'), 'trust');
    assert.equal(command('held', '/trust'), 'trust');
  });

  it('writes a plan and finishes work of your own, and checks a file', () => {
    assert.equal(command('manual', '/cases/0b1c/sessions/5/plan'), 'edit 0b1c2d3e plan.md');
    assert.equal(command('manual', '/cases/0b1c/sessions/5/finish'), 'finish 0b1c2d3e');
    assert.equal(command('file', '/api/diagnostics'), 'check');
  });

  it('starts a failed session again with its own agent and type, if a session is the answer', () => {
    const at = '/cases/0b1c/sessions';
    const failed = (body: object, path = at) => command('failed', path, body);
    const claude = failed({ type: 'implementing', provider: 'claude' });
    assert.equal(claude, 'start 0b1c2d3e --provider claude');
    const looking = failed({ type: 'investigating', provider: 'my agent' });
    assert.equal(looking, "start 0b1c2d3e --provider 'my agent' --type investigating");
    assert.equal(failed({ state: 'OPEN' }, '/cases/0b1c/state'), 'open 0b1c2d3e');
    const feedback = failed({ provider: 'claude' }, '/api/cases/0b1c/pr/address-feedback');
    assert.equal(feedback, 'open 0b1c2d3e');
  });
});
