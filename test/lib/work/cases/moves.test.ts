import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CaseStanding, isClosed, moveTo, unblock } from '../../../../lib/work/cases/moves.ts';
import { STATES, type State } from '../../../../store/records/case.ts';

const USUAL: Partial<Record<State, string>> = { RESOLVED: 'resolved', NON_ISSUE: 'non_issue' };

const at = (state: State, more: Partial<CaseStanding> = {}): CaseStanding => ({
  state,
  outcome: USUAL[state] ?? null,
  ...more,
});

describe('moveTo', () => {
  for (const from of STATES)
    for (const to of STATES)
      it(`goes from ${from} to ${to}`, () => {
        const expected =
          from === to
            ? undefined
            : {
                state: to,
                outcome: USUAL[to] ?? null,
                blocked_from: to === 'BLOCKED' ? from : undefined,
              };
        assert.deepEqual(moveTo(at(from), to), expected);
      });

  for (const from of STATES)
    it(`takes PLANNING for INVESTIGATING, from ${from}`, () => {
      assert.deepEqual(moveTo(at(from), 'PLANNING'), moveTo(at(from), 'INVESTIGATING'));
    });

  it('takes the outcome that is given, on closing only', () => {
    assert.equal(moveTo(at('OPEN'), 'RESOLVED', 'fixed')?.outcome, 'fixed');
    assert.equal(moveTo(at('OPEN'), 'NON_ISSUE', 'duplicate')?.outcome, 'duplicate');
    assert.equal(moveTo(at('OPEN'), 'VERIFYING', 'fixed')?.outcome, null);
  });

  it('keeps an outcome while closed, takes another, and drops it on reopening', () => {
    const closed = at('RESOLVED', { outcome: 'fixed' });
    assert.equal(moveTo(closed, 'RESOLVED'), undefined);
    assert.equal(moveTo(closed, 'RESOLVED', 'fixed'), undefined);
    assert.deepEqual(moveTo(closed, 'RESOLVED', 'partly'), {
      state: 'RESOLVED',
      outcome: 'partly',
      blocked_from: undefined,
    });
    assert.equal(moveTo(closed, 'NON_ISSUE')?.outcome, 'non_issue');
    assert.equal(moveTo(closed, 'OPEN')?.outcome, null);
  });

  it('gives an outcome to one that was closed by hand without, and takes one from an open one', () => {
    assert.equal(moveTo(at('RESOLVED', { outcome: null }), 'RESOLVED')?.outcome, 'resolved');
    assert.equal(moveTo(at('OPEN', { outcome: 'odd' }), 'OPEN')?.outcome, null);
  });

  it('remembers where it was blocked first', () => {
    const blocked = at('BLOCKED', { blocked_from: 'IMPLEMENTING' });
    assert.equal(moveTo(blocked, 'BLOCKED'), undefined);
    assert.deepEqual(moveTo(blocked, 'OPEN'), {
      state: 'OPEN',
      outcome: null,
      blocked_from: undefined,
    });
  });
});

describe('unblock', () => {
  for (const state of STATES)
    it(`leads from BLOCKED back to ${state}`, () => {
      if (state === 'BLOCKED')
        return assert.equal(unblock(at('BLOCKED', { blocked_from: state })), undefined);
      assert.equal(unblock(at('BLOCKED', { blocked_from: state }))?.state, state);
    });

  it('leads to OPEN where nobody knows', () => {
    assert.equal(unblock(at('BLOCKED'))?.state, 'OPEN');
  });

  for (const state of STATES.filter((each) => each !== 'BLOCKED'))
    it(`leaves ${state} alone`, () => {
      assert.equal(unblock(at(state)), undefined);
    });
});

describe('isClosed', () => {
  it('is true of RESOLVED and NON_ISSUE alone', () => {
    assert.deepEqual(STATES.filter(isClosed), ['RESOLVED', 'NON_ISSUE']);
  });
});
