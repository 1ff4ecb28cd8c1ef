import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeIn } from '../../../lib/agents/acp/notices.ts';
import { limitIn } from '../../../lib/agents/limits.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

describe('limitIn', () => {
  const CASES: [error: string, limit: object | undefined][] = [
    ['the model is on holiday', undefined],
    ['quota.ts is missing', undefined],
    ['Too Many Requests', {}],
    ["You've hit your usage limit. Try again at 3:45 PM.", {}],
    ['Claude AI usage limit reached|1893456000', { resume_at: '2030-01-01T00:00:00.000Z' }],
    ['usage limit; resets 2030-01-02T03:04:05+01:00', { resume_at: '2030-01-02T02:04:05.000Z' }],
    [
      '{"errorKind":"rate_limit","resetsAt": 1893456000}',
      { resume_at: '2030-01-01T00:00:00.000Z' },
    ],
    ['429: retry in 90s', { resume_at: '2026-01-01T00:01:30.000Z' }],
    ['Rate limit. Try again in 1 day 2 hours 5 minutes', { resume_at: '2026-01-02T02:05:00.000Z' }],
    ['429 try again in 300 ms', {}],
    ['429, build 1234567890', {}],
    ['exceeded your current quota', {}],
  ];
  for (const [error, limit] of CASES)
    it(`reads ${error}`, () => assert.deepEqual(limitIn(error, NOW), limit));
});

describe('noticeIn', () => {
  const claude = (message: object) => noticeIn('_claude/sdkMessage', { message }, NOW);
  const codex = (error: object) =>
    noticeIn(
      'session/update',
      { update: { sessionUpdate: 'session_info_update', _meta: { codex: { error } } } },
      NOW,
    );
  const retry = { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10 };
  const more = { retry_delay_ms: 5000, error: 'rate_limit' };

  it('reads what Claude Code waits for, and until when', () => {
    assert.deepEqual(claude({ ...retry, ...more, error_status: 429 }), {
      trouble: {
        message: 'Its model answers with an error (rate_limit).',
        http_status: 429,
        attempt: 2,
        attempts: 10,
        retry_at: '2026-01-01T00:00:05.000Z',
      },
    });
  });

  it('knows what no waiting mends', () => {
    for (const error_status of [401, 403, 404])
      assert.ok(claude({ ...retry, error_status })?.hopeless?.includes(`(${error_status})`));
    const error = {
      message: 'Reconnecting... 1/5',
      codexErrorInfo: { x: { httpStatusCode: 404 } },
    };
    assert.match(codex(error)?.hopeless ?? '', /not there \(404\).*Reconnecting/);
  });

  it('reads a limit with its end, and only one that was reached', () => {
    const limit = (status: string, resetsAt?: number) =>
      claude({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt } });
    assert.deepEqual(limit('rejected', 1_893_456_000), {
      limit: { resume_at: '2030-01-01T00:00:00.000Z' },
    });
    assert.deepEqual(limit('rejected'), { limit: {} });
    assert.equal(limit('allowed_warning', 1_893_456_000), undefined);
    assert.deepEqual(codex({ message: 'no', codexErrorInfo: 'usageLimitExceeded' })?.limit, {});
  });

  it('finds none in what tells of something else', () => {
    assert.equal(noticeIn('session/update', { update: { sessionUpdate: 'plan' } }, NOW), undefined);
    assert.equal(noticeIn('x', null, NOW), undefined);
  });
});
