import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORM, type ToldState } from '../../../store/journal/journal-state.ts';
import { eventsBetween } from '../../../store/reconcile/compare.ts';
import type { CaseMatter } from '../../../store/records/case.ts';
import { told } from '../../helpers/work-item.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const PROOF = '22222222-2222-4222-8222-222222222222';
const AT = new Date('2026-03-04T05:06:07.089Z');

const seen = (
  matter: Partial<CaseMatter> & Record<string, unknown> = {},
  more: Partial<ToldState> & { description?: string } = {},
): ToldState => ({
  form: FORM,
  dir: 'cases/2026-03/a',
  case: {
    sha: 'a',
    matter: {
      id: ID,
      title: 'T',
      type: 'bug',
      state: 'OPEN',
      created_at: AT.toISOString(),
      ...matter,
    },
    description: more.description ?? 'd',
  },
  proofs: more.proofs ?? {},
  ...(more.dir !== undefined && { dir: more.dir }),
});

const proof = (verified: boolean, content = 'c', type = 'log', sha = 's'): ToldState['proofs'] => ({
  [PROOF]: { sha, content, matter: { id: PROOF, type, verified, created_at: AT.toISOString() } },
});

const events = (before: ToldState | undefined, now: ToldState): string[] =>
  told(eventsBetween(ID, before, now, AT));

describe('compare', () => {
  it('tells of what it never saw before that it is there, and of what is gone that it is', () => {
    const whole = seen({ state: 'RESOLVED' }, { proofs: proof(true) });
    assert.deepEqual(events(undefined, whole), ['case_created']);
    assert.deepEqual(told(eventsBetween(ID, whole, undefined, AT)), ['case_deleted']);
    assert.deepEqual(eventsBetween(ID, undefined, undefined, AT), []);
  });

  for (const [name, now] of Object.entries({
    nothing: seen(),
    'bytes that say the same': { ...seen(), case: { ...seen().case, sha: 'b' } },
    'the directory': seen({}, { dir: 'cases/archive/a' }),
    'a key of the operator': seen({ mine: 1 }),
    'the outcome': seen({ outcome: 'fixed' }),
    'where it was blocked': seen({ blocked_from: 'OPEN' }),
  }))
    it(`makes no event of ${name}`, () => {
      assert.deepEqual(events(seen(), now), []);
    });

  for (const [name, now] of Object.entries({
    title: seen({ title: 'U' }),
    type: seen({ type: 'feature' }),
    project: seen({ project: 'other' }),
    description: seen({}, { description: 'e' }),
    'all of them': seen({ title: 'U', type: 'feature' }, { description: 'e' }),
  }))
    it(`makes one case_updated of ${name}`, () => {
      assert.deepEqual(events(seen(), now), ['case_updated']);
    });

  it('tells the fields before the state, and the case before the proofs', () => {
    const now = seen({ title: 'U', state: 'BLOCKED' }, { proofs: proof(true) });
    assert.deepEqual(events(seen(), now), [
      'case_updated',
      'case_state_changed OPEN BLOCKED',
      'proof_created',
      'proof_updated true',
    ]);
  });

  for (const [from, to, expected] of [
    ['OPEN', 'INVESTIGATING', ['case_state_changed OPEN PLANNING']],
    ['OPEN', 'PLANNING', ['case_state_changed OPEN PLANNING']],
    ['PLANNING', 'INVESTIGATING', []],
    ['INVESTIGATING', 'IMPLEMENTING', ['case_state_changed PLANNING IMPLEMENTING']],
    ['PLANNING', 'OPEN', ['case_state_changed PLANNING OPEN']],
  ] as const)
    it(`from ${from} to ${to} tells ${expected.join() || 'nothing'}`, () => {
      assert.deepEqual(events(seen({ state: from }), seen({ state: to })), expected);
    });

  for (const [name, before, now, expected] of [
    ['a new one', {}, proof(false), ['proof_created']],
    ['one that is verified already', {}, proof(true), ['proof_created', 'proof_updated true']],
    ['a verification', proof(false), proof(true), ['proof_updated true']],
    ['one taken back', proof(true), proof(false), ['proof_updated false']],
    ['new content', proof(false), proof(false, 'other'), ['proof_updated false']],
    ['another type', proof(true), proof(true, 'c', 'screenshot'), ['proof_updated true']],
    ['bytes that say the same', proof(true), proof(true, 'c', 'log', 'other'), []],
    ['one that is gone', proof(true), {}, ['proof_deleted']],
  ] as const)
    it(`of proofs: ${name} is ${expected.join(', ') || 'no event'}`, () => {
      assert.deepEqual(events(seen({}, { proofs: before }), seen({}, { proofs: now })), expected);
    });

  it('tells once of a checklist that is another, and of none that comes with its Work item', () => {
    const entry = { id: PROOF, description: 'Seen', type: 'seen', required: true, done: false };
    const asked = { ...seen(), checklist: [entry] };
    const ticked = { ...seen(), checklist: [{ ...entry, done: true }] };
    assert.deepEqual(events(seen(), asked), ['checklist_updated']);
    assert.deepEqual(events(asked, ticked), ['checklist_updated']);
    assert.deepEqual(events(asked, seen()), ['checklist_updated']);
    assert.deepEqual(events(asked, asked), []);
    assert.deepEqual(events(undefined, asked), ['case_created']);
  });

  it('tells of no checklist where a form of before had none, and of all that it had', () => {
    const { form: _, ...old } = seen();
    const entry = { id: PROOF, description: 'Seen', type: 'seen', required: true };
    const asked = { ...seen({ title: 'U' }), checklist: [entry] };
    assert.deepEqual(events(old, asked), ['case_updated']);
    assert.deepEqual(events({ ...old, checklist: [entry] }, seen()), ['checklist_updated']);
  });

  it('gives each event exactly the payload of the interface, and one time for all', () => {
    const now = seen({ title: 'U', state: 'VERIFYING' }, { proofs: proof(true) });
    const ofProof = { case_id: ID, proof_id: PROOF, proof_type: 'log' };
    assert.deepEqual(
      eventsBetween(ID, seen(), now, AT),
      [
        ['case_updated', { case_id: ID }],
        ['case_state_changed', { case_id: ID, old_state: 'OPEN', new_state: 'VERIFYING' }],
        ['proof_created', ofProof],
        ['proof_updated', { ...ofProof, verified: true }],
      ].map(([event_type, payload]) => ({ event_type, timestamp: AT.toISOString(), payload })),
    );
  });
});
