import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { proposePlan } from '../../../../lib/agents/runbook/runbook.ts';
import { reviewsAsPrompt } from '../../../../lib/host/reviews/feedback-session.ts';
import { reviewRecords } from '../../../../lib/host/reviews/read.ts';
import { shellBlocks } from '../../../../lib/text/markdown/fences.ts';
import type { Review } from '../../../../store/records/review.ts';

const review = (over: Partial<Review> = {}): Review => ({
  id: 'thread:T_1',
  case_id: '',
  kind: 'thread',
  pull: 7,
  state: 'unresolved',
  blocking: true,
  author: 'bob',
  body: '',
  comments: [],
  left_out: 0,
  path: 'src/a.ts',
  line: 12,
  start_line: null,
  outdated: false,
  url: null,
  commit: null,
  on_host: true,
  submitted_at: null,
  feedback: 'queued',
  queued_at: null,
  session_id: null,
  resolved_at: null,
  fetched_at: null,
  check: null,
  ...over,
});

const words = (over: Partial<Review>, comment?: string): string =>
  reviewsAsPrompt([review(over)], { about: '#7 (Title)', comment });

describe('wordsOf', () => {
  it('tells where each review is, who said what, and what is not told', () => {
    const comments = ['One.', 'Two.'].map((body) => ({
      author: 'bob',
      body,
      url: null,
      created_at: null,
    }));
    const told = words({ comments, start_line: 10, outdated: true, left_out: 3 }, 'Be quick.');
    assert.match(told, /The operator says:\n\n```text\nBe quick\.\n```/);
    assert.match(told, /Review 1:\n\n```text\nsrc\/a\.ts:10-12 \(outdated\)\n\nbob:\nOne\./);
    assert.match(told, /bob:\nTwo\.\n\n\(3 more comments are on the host\.\)\n```/);
    const whole = words({ path: null, line: null, body: 'No.', author: null, state: 'dismissed' });
    assert.match(whole, /```text\nunknown \(dismissed\):\nNo\.\n```$/);
  });

  it('holds nothing that the runbook runs, whatever strangers wrote and called their files', () => {
    const PIECES = [
      '`',
      '```',
      '~~~',
      'sh\n',
      '\n',
      '````',
      '- ',
      '> ',
      '    ',
      'rm -rf .',
      '\r',
      '<!--',
    ];
    const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((all) => all.join(''));
    fc.assert(
      fc.property(text, text, text, (body, path, title) => {
        const reviews = reviewsAsPrompt([review({ body, path })], { about: `#7 (${title})` });
        const plan = proposePlan({
          title: 'Say hello',
          type: 'bug',
          memory: [],
          global_memory: [],
          reviews,
          description: '```sh\ntouch done\n```\n',
        });
        assert.deepEqual(shellBlocks(plan), []);
      }),
      { numRuns: 500 },
    );
  });
});

describe('reviewRecords', () => {
  const comment = (body: string) => ({
    author: 'bob',
    body,
    url: 'https://host/c',
    created_at: '2026-01-01T00:00:00Z',
    own: false,
  });
  const thread = (bodies: string[]) => ({
    node_id: 'T_1',
    resolved: false,
    outdated: false,
    path: 'a',
    line: 1,
    start_line: null,
    comments: bodies.map(comment),
  });

  it('keeps of a thread that is too long how it began and what was said last, and counts the rest', () => {
    const many = Array.from({ length: 400 }, (_, at) => `comment ${at}`);
    const [told] = reviewRecords(7, [], [thread(many)]);
    assert.deepEqual([told?.texts[0], told?.texts.at(-1)], ['comment 0', 'comment 399']);
    assert.equal((told?.texts.length ?? 0) + (told?.matter.left_out ?? 0), 400);
    const [large] = reviewRecords(7, [], [thread(Array(40).fill('x'.repeat(65_536)))]);
    assert.ok(large !== undefined && large.texts.join('').length < 1_000_000);
    assert.equal(large.texts.length + (large.matter.left_out ?? 0), 40);
  });

  it('leaves out a review that is not submitted yet', () => {
    const draft = {
      number: 1,
      author: 'me',
      state: 'pending' as const,
      body: 'Hm.',
      url: '',
      commit: null,
      submitted_at: null,
    };
    assert.deepEqual(reviewRecords(7, [draft], []), []);
  });
});
