import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Evidence, evaluateGate, isSatisfied } from '../../../store/reconcile/proof-gate.ts';
import type { ChecklistEntry } from '../../../store/records/proof.ts';

const entry = (type: string, required = true): ChecklistEntry => ({
  id: `id of ${type}`,
  description: `a ${type}`,
  type,
  required,
});
const proof = (type: string, verified = true, commit: string | null = null): Evidence => ({
  id: `${type}-${verified}-${commit}`,
  type,
  verified,
  commit,
  diff_sha256: null,
});

interface Row {
  checklist: ChecklistEntry[];
  proofs: Evidence[];
  /** The types that are missing; null is any. */
  missing: (string | null)[];
}

const ROWS: Record<string, Row> = {
  'no checklist, no proof': { checklist: [], proofs: [], missing: [null] },
  'no checklist, a proof': { checklist: [], proofs: [proof('log', false)], missing: [null] },
  'no checklist, a verified proof': { checklist: [], proofs: [proof('log')], missing: [] },
  'a required item, no proof': { checklist: [entry('log')], proofs: [], missing: ['log'] },
  'a required item, a proof': {
    checklist: [entry('log')],
    proofs: [proof('log', false)],
    missing: ['log'],
  },
  'a required item, a verified proof': {
    checklist: [entry('log')],
    proofs: [proof('log')],
    missing: [],
  },
  'a required item, a verified proof of another type': {
    checklist: [entry('log')],
    proofs: [proof('screenshot')],
    missing: ['log'],
  },
  'two required items, one proven': {
    checklist: [entry('log'), entry('screenshot')],
    proofs: [proof('log'), proof('screenshot', false)],
    missing: ['screenshot'],
  },
  'two required items of one type, one proof': {
    checklist: [entry('log'), entry('log')],
    proofs: [proof('log')],
    missing: [],
  },
  'only items that are not required': {
    checklist: [entry('log', false)],
    proofs: [],
    missing: [],
  },
  'an item that is not required beside one that is': {
    checklist: [entry('log', false), entry('screenshot')],
    proofs: [proof('screenshot')],
    missing: [],
  },
};

describe('evaluateGate', () => {
  for (const [name, { checklist, proofs, missing }] of Object.entries(ROWS))
    it(`with ${name}: ${missing.length === 0 ? 'is satisfied' : `misses ${missing.join(', ')}`}`, () => {
      const gate = evaluateGate(checklist, proofs);
      assert.equal(gate.satisfied, missing.length === 0);
      assert.deepEqual(
        gate.missing.map(({ type }) => type),
        missing,
      );
    });

  it('says of what is missing which line of the checklist wants it', () => {
    assert.deepEqual(evaluateGate([entry('log')], []).missing, [
      { checklist_id: 'id of log', type: 'log', description: 'a log' },
    ]);
    assert.equal(evaluateGate([], []).missing[0]?.checklist_id, null);
  });

  it('names verified proofs of an older commit, and does not close for them', () => {
    const proofs = [
      proof('log', true, 'old'),
      proof('log', true, 'new'),
      proof('log', true, null),
      proof('log', false, 'old'),
    ];
    const gate = evaluateGate([], proofs, { head: 'new' });
    assert.deepEqual([gate.satisfied, gate.stale], [true, ['log-true-old']]);
    assert.deepEqual(evaluateGate([], proofs).stale, [], 'without a worktree none is older');
  });

  it('names those of a diff that is another by now, and not one that was committed since', () => {
    const proofs = [{ ...proof('log'), diff_sha256: 'a' }];
    assert.deepEqual(evaluateGate([], proofs, { head: 'new', diff_sha256: 'a' }).stale, []);
    assert.deepEqual(evaluateGate([], proofs, { head: 'new', diff_sha256: 'b' }).stale, [
      'log-true-null',
    ]);
    assert.deepEqual(evaluateGate([], proofs, { head: 'new' }).stale, [], 'nobody has looked');
  });

  it('compares trees where a proof has one, whatever was committed since', () => {
    const proofs = [{ ...proof('log', true, 'old'), diff_sha256: 'a', tree: 't' }];
    const same = { head: 'new', diff_sha256: 'b', tree: 't' };
    assert.deepEqual(evaluateGate([], proofs, same).stale, []);
    assert.deepEqual(evaluateGate([], proofs, { tree: 'u' }).stale, ['log-true-old']);
    assert.deepEqual(evaluateGate([], proofs, { head: 'new' }).stale, [], 'nobody has looked');
  });

  it('names those from before there was any work', () => {
    const proofs = [proof('log')];
    assert.deepEqual(evaluateGate([], proofs, { has_work: true }).stale, ['log-true-null']);
    assert.deepEqual(evaluateGate([], proofs, { has_work: false }).stale, []);
  });
});

describe('isSatisfied', () => {
  it('is one that is ticked or waived', () => {
    assert.equal(isSatisfied({ ...entry('log'), done: true }, []), true);
    assert.equal(isSatisfied({ ...entry('log'), done: false }, []), false);
    const waived = { by: 'operator', reason: 'No UI.', at: '2026-01-02T03:04:05.006Z' };
    assert.equal(isSatisfied({ ...entry('log'), waived }, []), true);
  });

  it('with a command wants a run of that command that passed, and no other proof', () => {
    const line = { ...entry('test'), command: 'npm test' };
    assert.equal(isSatisfied(line, [proof('test')]), false);
    assert.equal(isSatisfied(line, [{ ...proof('test'), passed: 'npm run lint' }]), false);
    assert.equal(isSatisfied(line, [{ ...proof('test', false), passed: 'npm test' }]), false);
    assert.equal(isSatisfied(line, [{ ...proof('log'), passed: 'npm test' }]), true);
  });

  it('wants a verified proof of the same type', () => {
    assert.equal(isSatisfied(entry('log'), [proof('log', false), proof('logs')]), false);
    assert.equal(isSatisfied(entry('log'), [proof('log', false), proof('log')]), true);
  });
});
