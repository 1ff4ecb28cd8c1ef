import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CaseProgress, nextStep } from '../../../routes/console/parts/case/next-step.tsx';

const NEW: CaseProgress = {
  ...{ state: 'OPEN', sessions: [], planning: 'not_started', isProven: false, pull: null },
  ...{ isMerged: false, isToMerge: false },
};
const DONE: CaseProgress = { ...NEW, sessions: [{ id: 's', status: 'completed' }] };
const pullOf = (state: NonNullable<CaseProgress['pull']>['state']): CaseProgress => ({
  ...{ ...DONE, isProven: true },
  pull: {
    ...{ host: 'github.com', repository: 'a/b', number: 1, title: 'T', url: null, stale: false },
    state,
  },
});

const TABLE: readonly (readonly [string, CaseProgress, string | undefined])[] = [
  ['new', NEW, '#sessions'],
  ['closed', { ...NEW, state: 'NON_ISSUE' }, undefined],
  ['resolved', { ...DONE, state: 'RESOLVED' }, undefined],
  ['at work', { ...NEW, sessions: [{ id: 's', status: 'working' }] }, '/sessions/s'],
  ['queued', { ...NEW, sessions: [{ id: 'q', status: 'queued' }] }, '/sessions/q'],
  ['failed', { ...NEW, sessions: [{ id: 's', status: 'failed' }] }, '#sessions'],
  ['planned, not approved', { ...NEW, planning: 'pending' }, '/planning'],
  ['planned, changed since', { ...DONE, planning: 'stale' }, '/planning'],
  ['done', DONE, '/proof'],
  ['proven', { ...DONE, isProven: true }, '/pr'],
  ['proven before its last work', { ...DONE, state: 'VERIFYING', isProven: true }, '/proof'],
  ['proven, without a code host', { ...DONE, isProven: true, isToMerge: true }, '/pr'],
  ['resolved, not merged', { ...DONE, state: 'RESOLVED', isToMerge: true }, '/pr'],
  ['merged by hand', { ...DONE, isProven: true, isMerged: true }, '#state'],
  ['a draft', pullOf('draft'), '/pr'],
  ['is open', pullOf('open'), '/pr'],
  ['merged', pullOf('merged'), '#state'],
  ['not taken', pullOf('closed'), '#state'],
];

describe('the next step of a Work item', () => {
  for (const [name, way, at] of TABLE)
    it(`of one that is ${name}: ${at ?? 'none'}`, () => assert.equal(nextStep(way)?.at, at));
});
