import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureIn, noticeIn } from '../../../lib/agents/acp/notices.ts';
import { modelErrorIn, outageIn } from '../../../lib/agents/outage.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

describe('outageIn', () => {
  const limit = { reason: 'usage_limit' };
  const CASES: [error: string, outage: object | undefined][] = [
    ['the model is on holiday', undefined],
    ['quota.ts is missing', undefined],
    ['Error at /srv/app.js:500:12, and 401 lines more', undefined],
    ['Too Many Requests', limit],
    ['exceeded retry limit, last status: 429 Too Many Requests', limit],
    ["You've hit your usage limit. Try again at 3:45 PM.", limit],
    [
      'Claude AI usage limit reached|1893456000',
      { ...limit, resume_at: '2030-01-01T00:00:00.000Z' },
    ],
    [
      'usage limit; resets 2030-01-02T03:04:05+01:00',
      { ...limit, resume_at: '2030-01-02T02:04:05.000Z' },
    ],
    [
      '{"errorKind":"rate_limit","resetsAt": 1893456000}',
      { ...limit, resume_at: '2030-01-01T00:00:00.000Z' },
    ],
    ['429: retry in 90s', { ...limit, resume_at: '2026-01-01T00:01:30.000Z' }],
    [
      'Rate limit. Try again in 1 day 2 hours 5 minutes',
      { ...limit, resume_at: '2026-01-02T02:05:00.000Z' },
    ],
    ['429 try again in 300 ms', limit],
    ['429 until 9999-12-31T23:59:59-10:00', limit],
    ['429 until 2016-12-31T23:59:60Z', limit],
    ['429, build 1234567890', limit],
    ['exceeded your current quota', limit],
    ['unexpected status 401 Unauthorized', { reason: 'login' }],
    ['Invalid API key · Please run /login', { reason: 'login' }],
    ['API Error: 529 {"type":"overloaded_error"}', { reason: 'model_unavailable' }],
    ['stream disconnected before completion', { reason: 'model_unavailable' }],
    ['connect ECONNREFUSED 127.0.0.1:1', { reason: 'model_unavailable' }],
    ['[API Error: terminated (cause: other side closed)]', { reason: 'model_unavailable' }],
    ['The agent returned an error: Internal error (terminated).', { reason: 'model_unavailable' }],
  ];
  for (const [error, outage] of CASES)
    it(`reads ${error}`, () => assert.deepEqual(outageIn(error, NOW), outage));
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
        message: "The agent's model returned an error (rate_limit).",
        http_status: 429,
        attempt: 2,
        attempts: 10,
        retry_at: '2026-01-01T00:00:05.000Z',
      },
    });
  });

  it('reads a time that no clock shows as none', () => {
    const told = claude({ ...retry, ...more, retry_delay_ms: 1e300 });
    assert.deepEqual([told?.trouble?.attempt, told?.trouble?.retry_at], [2, undefined]);
  });

  it('knows what no waiting mends', () => {
    for (const error_status of [401, 403, 404])
      assert.ok(claude({ ...retry, error_status })?.hopeless?.includes(`(${error_status})`));
    const error = {
      message: 'Reconnecting... 1/5',
      codexErrorInfo: { x: { httpStatusCode: 404 } },
    };
    assert.match(codex(error)?.hopeless ?? '', /not found \(404\).*Reconnecting/);
  });

  it('reads a limit with its end, and only one that was reached', () => {
    const limit = (status: string, resetsAt?: number) =>
      claude({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt } });
    assert.deepEqual(limit('rejected', 1_893_456_000), {
      outage: { reason: 'usage_limit', resume_at: '2030-01-01T00:00:00.000Z' },
    });
    assert.deepEqual(limit('rejected'), { outage: { reason: 'usage_limit' } });
    assert.equal(limit('allowed_warning', 1_893_456_000), undefined);
    assert.deepEqual(codex({ message: 'no', codexErrorInfo: 'usageLimitExceeded' })?.outage, {
      reason: 'usage_limit',
    });
  });

  it('reads a turn that Codex’ adapter calls failed, and what may mend it', () => {
    const told = (failure: object) => ({ jetbrains: { air: { sessionFailure: failure } } });
    const title = 'exceeded retry limit, last status: 500';
    const failure = { severity: 'error', category: 'service', title, actions: ['retry'] };
    const outage = { reason: 'model_unavailable' };
    assert.deepEqual(failureIn(told(failure)), { failed: title, outage });
    const full = { ...failure, category: 'limit', actions: ['new_session'] };
    assert.deepEqual(failureIn(told(full)), { failed: title });
    const retry = { ...failure, severity: 'warning', title: 'Reconnecting... 2/5' };
    const trouble = { message: 'Reconnecting... 2/5', attempt: 2, attempts: 5 };
    assert.deepEqual(failureIn(told(retry)), { trouble });
    assert.equal(failureIn(told({ ...retry, category: 'unknown' })), undefined);
  });

  it('finds none in what tells of something else', () => {
    assert.equal(noticeIn('session/update', { update: { sessionUpdate: 'plan' } }, NOW), undefined);
    assert.equal(noticeIn('x', null, NOW), undefined);
  });
});

describe('modelErrorIn', () => {
  it('is the error that ends a message, with what follows it, and no text that quotes one', () => {
    const cut = '[API Error: terminated (cause: other\nside closed)]\n';
    assert.equal(modelErrorIn(`I will now${cut}`), cut);
    for (const text of [
      'The handler prints [API Error: 503 service unavailable]',
      '[API Error: terminated] is what it prints.',
    ].map((each) => `Done. ${each}`))
      assert.equal(modelErrorIn(text), undefined, text);
  });
});
