import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { summaryOf, type WorkDone } from '../../../lib/sessions/summary.ts';
import type { Session } from '../../../store/records/session.ts';

const SESSION: Session = {
  id: '6b1f0c3e-8f5e-4e53-9f4c-0a8a53f0c001',
  case_id: '6b1f0c3e-8f5e-4e53-9f4c-0a8a53f0c002',
  type: 'implementing',
  mode: 'work',
  status: 'working',
  provider: 'qwen',
  branch: 'work/greet',
  base_commit: 'abc123',
  plan_sha256: 'f'.repeat(64),
  created_at: '2026-11-21T10:00:00.000Z',
  started_at: '2026-11-21T10:00:00.000Z',
  ended_at: null,
  usage: null,
  error: null,
};

const call = (id: string, title: string, status: string, kind = 'execute') => ({
  id,
  title,
  status,
  kind,
});

const done = (rest: Partial<WorkDone> = {}): WorkDone => ({
  session: SESSION,
  asked: { title: 'Greet by name', description: 'Say ```hello``` to whoever asks.' },
  files: [
    { path: 'greet.sh', what: 'changed', additions: 3, deletions: 1 },
    { path: 'logo.png', what: 'added', additions: null, deletions: null },
  ],
  calls: [
    call('a', 'npm test', 'failed'),
    call('b', 'printf "a\nb"', 'completed'),
    call('c', 'greet.sh', 'completed', 'edit'),
  ],
  usage: { input_tokens: 2000, output_tokens: 150, cost_usd: null },
  ended_at: '2026-11-21T10:02:05.400Z',
  ...rest,
});

describe('summaryOf', () => {
  it('says what was asked, approved, changed and run, and what it cost', () => {
    assert.equal(
      summaryOf(done()),
      [
        '## What was asked\n\nGreet by name\n\n````markdown\nSay ```hello``` to whoever asks.\n````',
        `## What was approved\n\n[plan.md](plan.md), SHA-256 \`${'f'.repeat(64)}\`. qwen executed it on \`work/greet\`, from \`abc123\`.`,
        '## What changed\n\n2 files, +3 −1: see [diff.patch](diff.patch).\n\n```text\nchanged  greet.sh  +3 −1\nadded    logo.png  binary\n```',
        '## Commands run\n\n```text\nnpm test  failed\nprintf "a b"  completed\n```',
        '## Time and cost\n\n2 min 5 s from the start of planning, 2000 tokens in, 150 tokens out.',
      ].join('\n\n'),
    );
  });

  it('leaves out what nobody knows', () => {
    const summary = summaryOf(
      done({
        session: { ...SESSION, started_at: null },
        asked: { title: 'Greet', description: ' ' },
        files: [],
        calls: [],
        usage: null,
      }),
    );
    assert.match(summary, /No file was changed\.$/);
    assert.doesNotMatch(summary, /Commands|cost|markdown/);
  });

  it('stays short, and says how much it leaves out', () => {
    const files = Array.from({ length: 150 }, (_, n) => ({
      path: `${n}.txt`,
      what: 'added' as const,
      additions: 1,
      deletions: 0,
    }));
    const asked = { title: 'Much', description: 'x'.repeat(5000) };
    const summary = summaryOf(done({ files, asked }));
    assert.match(summary, /150 files, \+150 −0/);
    assert.match(summary, /and 50 more files/);
    assert.match(summary, /x{1000} \[…\]/);
    assert.ok(summary.length < 6000);
  });
});
