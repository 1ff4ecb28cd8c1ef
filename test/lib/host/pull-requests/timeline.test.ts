import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pull, PullEvent } from '../../../../lib/codehost/code-host.ts';
import { transitionsOf, unknown } from '../../../../lib/host/pull-requests/timeline.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const pull = (over: Partial<Pull> = {}): Pull => ({
  number: 7,
  node_id: 'PR_7',
  url: 'https://host/7',
  title: 'T',
  body: '',
  state: 'draft',
  author: 'me',
  labels: [],
  head_ref: 'work/x',
  head_sha: 'a'.repeat(40),
  base_ref: 'main',
  mergeable: null,
  review_decision: null,
  checks: null,
  created_at: at(0),
  updated_at: at(0),
  merged_at: null,
  merge_commit: null,
  closed_at: null,
  ...over,
});

const event = (kind: PullEvent['kind'], second: number): PullEvent => ({
  id: `${kind}-${second}`,
  kind,
  actor: 'you',
  at: at(second),
  head_sha: null,
});

const SEEN = { observed_at: at(900), source: 'sync' } as const;

const ways = (over: Partial<Pull>, ...events: PullEvent[]): string[] =>
  transitionsOf(pull(over), events, SEEN).map(({ event, from, to }) => `${event}: ${from} ${to}`);

describe('transitionsOf', () => {
  it('begins with the opening, as a draft or not, as what followed tells', () => {
    assert.deepEqual(ways({ state: 'draft' }), ['opened: none draft']);
    assert.deepEqual(ways({ state: 'open' }), ['opened: none open']);
    assert.deepEqual(ways({ state: 'open' }, event('ready', 1)), [
      'opened: none draft',
      'ready: draft open',
    ]);
    assert.deepEqual(ways({ state: 'draft' }, event('draft', 1)), [
      'opened: none open',
      'draft: open draft',
    ]);
  });

  it('tells a merge once, though the host closes with it, in whatever order', () => {
    const merge = ['opened: none open', 'merged: open merged'];
    assert.deepEqual(ways({ state: 'merged' }, event('merged', 9), event('closed', 9)), merge);
    assert.deepEqual(ways({ state: 'merged' }, event('closed', 9), event('merged', 9)), merge);
  });

  it('comes back from closed as what it was made meanwhile', () => {
    const events = [event('closed', 1), event('ready', 2), event('reopened', 3)];
    assert.deepEqual(ways({ state: 'open' }, ...events), [
      'opened: none draft',
      'closed: draft closed',
      'reopened: closed open',
    ]);
  });

  it('leaves out what changes no state', () => {
    const events = [event('head_pushed', 1), event('review', 2), event('renamed', 3)];
    assert.deepEqual(ways({ state: 'draft' }, ...events), ['opened: none draft']);
  });
});

describe('unknown', () => {
  type Entry = Parameters<typeof unknown>[0][number];
  const ready = (second: number, host_event_id: string | null): Entry => ({
    number: 7,
    event: 'ready',
    to: 'open',
    occurred_at: at(second),
    host_event_id,
    source: host_event_id === null ? 'service' : 'sync',
  });

  it("goes by the host's own id", () => {
    const news = unknown([ready(0, 'a')], [ready(0, 'a'), ready(0, 'b')]);
    assert.deepEqual(news, [ready(0, 'b')]);
  });

  it('takes what was told without an id as the same within a minute, and only once', () => {
    assert.deepEqual(unknown([ready(0, null)], [ready(5, 'a')]), []);
    assert.deepEqual(unknown([ready(0, null)], [ready(0, 'a'), ready(20, 'b')]), [ready(20, 'b')]);
    assert.deepEqual(unknown([ready(0, null)], [ready(61, 'a')]), [ready(61, 'a')]);
    assert.deepEqual(unknown([ready(0, 'a')], [ready(3, null)]), []);
  });

  it('does not take one for another that is known by its id already', () => {
    const known = [ready(0, null), ready(2, 'b')];
    assert.deepEqual(unknown(known, [ready(2, 'b'), ready(0, 'a')]), []);
  });
});
