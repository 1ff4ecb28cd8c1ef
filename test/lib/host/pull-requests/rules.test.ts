import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostReview, ReviewThread } from '../../../../lib/codehost/code-host.ts';
import {
  evaluate,
  type ReadinessFindings,
  unresolvedOf,
} from '../../../../lib/host/pull-requests/ready-check.ts';

const SHA = 'a'.repeat(40);

const found = (
  over: Partial<ReadinessFindings> = {},
  pull: Partial<ReadinessFindings['pull']> = {},
): ReadinessFindings => ({
  gate: { satisfied: true, missing: [], stale: [] },
  unresolved: [],
  unread: [],
  local: { files: [], head: SHA, has_remote: true },
  remote: { commit: SHA },
  ...over,
  pull: {
    number: 7,
    node_id: 'PR_7',
    url: 'https://host/7',
    title: 'T',
    body: '',
    state: 'draft',
    author: 'me',
    labels: [],
    head_ref: 'work/x',
    head_sha: SHA,
    base_ref: 'main',
    mergeable: true,
    review_decision: null,
    checks: 'success',
    created_at: '',
    updated_at: '',
    merged_at: null,
    merge_commit: null,
    closed_at: null,
    ...pull,
  },
});

const failing = (...given: Parameters<typeof found>): string[] =>
  evaluate(found(...given))
    .checks.filter(({ ok }) => !ok)
    .map(({ name }) => name);

const MISSING = [{ checklist_id: null, type: 'log', description: 'A log' }];

describe('evaluate', () => {
  it('is ready when nothing is in the way', () => {
    assert.equal(evaluate(found()).ready, true);
    assert.deepEqual(failing({ local: undefined }), []);
    assert.deepEqual(failing({}, { mergeable: null, checks: null }), []);
    assert.deepEqual(failing({}, { checks: 'pending', state: 'open' }), []);
  });

  it('names each thing that is', () => {
    assert.deepEqual(failing({}, { state: 'closed' }), ['state']);
    assert.deepEqual(failing({}, { state: 'merged' }), ['state']);
    const gate = { satisfied: false, missing: MISSING, stale: [] };
    assert.deepEqual(failing({ gate }), ['proof_gate']);
    const unresolved = [{ id: 'review:1', detail: 'you ask for changes' }];
    assert.deepEqual(failing({ unresolved }), ['reviews']);
    assert.deepEqual(failing({ local: { files: ['a'], head: SHA, has_remote: true } }), [
      'worktree_clean',
    ]);
    assert.deepEqual(failing({ local: { files: [], head: 'b', has_remote: true } }), ['pushed']);
    assert.deepEqual(failing({}, { head_sha: 'b'.repeat(40) }), ['head_in_sync']);
    assert.deepEqual(failing({}, { mergeable: false }), ['mergeable']);
    assert.deepEqual(failing({}, { checks: 'failure' }), ['checks']);
  });

  it('advises a push only where it replaces nothing of the remote', () => {
    const said = (has_remote: boolean, commit: string | null): string | undefined =>
      evaluate(
        found({ local: { files: [], head: 'b', has_remote }, remote: { commit } }),
      ).checks.find(({ name }) => name === 'pushed')?.detail;
    assert.match(said(true, SHA) ?? '', /does not have the local commits\. Send …\/pr\/push$/);
    assert.match(said(false, SHA) ?? '', /^The remote has commits .* \(a{12}\)\. .* git merge/);
    assert.match(said(false, null) ?? '', /does not have the branch\. Send …\/pr\/sync-state$/);
  });

  it('is not ready when the remote cannot be looked at', () => {
    assert.deepEqual(failing({ remote: { unknown: 'no answer' } }), ['pushed', 'head_in_sync']);
  });
});

const review = (number: number, author: string | null, state: HostReview['state']): HostReview => ({
  number,
  author,
  state,
  body: '',
  url: '',
  commit: null,
  submitted_at: `2026-01-01T00:00:0${number}Z`,
});

const thread = (node_id: string, resolved: boolean): ReviewThread => ({
  node_id,
  resolved,
  outdated: false,
  path: 'a.ts',
  line: 3,
  start_line: null,
  comments: [],
});

describe('unresolvedOf', () => {
  it("takes each author's newest decision, whatever order they come in", () => {
    const reviews = [
      review(4, 'ann', 'commented'),
      review(3, 'ann', 'approved'),
      review(1, 'ann', 'changes_requested'),
      review(2, 'bob', 'changes_requested'),
      review(5, 'eve', 'changes_requested'),
      review(6, 'eve', 'dismissed'),
    ];
    const ids = unresolvedOf(reviews, []).map(({ id }) => id);
    assert.deepEqual(ids, ['review:2']);
  });

  it('lets no approval of a deleted user stand for another one', () => {
    const reviews = [review(1, null, 'changes_requested'), review(2, null, 'approved')];
    assert.deepEqual(
      unresolvedOf(reviews, []).map(({ id }) => id),
      ['review:1'],
    );
  });

  it('takes threads that are not resolved', () => {
    const open = unresolvedOf([], [thread('A', true), thread('B', false)]);
    const detail = 'a thread on a.ts:3 is not resolved';
    assert.deepEqual(open, [{ id: 'thread:B', detail }]);
  });
});
