import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChangedFile } from '../../../../../lib/tools/git/read/diff-output.ts';
import { summaryOf, type WorkDone } from '../../../../../lib/work/sessions/live/summary.ts';
import type { Session } from '../../../../../store/records/session.ts';

const SESSION: Session = {
  id: '6b1f0c3e-8f5e-4e53-9f4c-0a8a53f0c001',
  path: 'cases/a/sessions/b',
  case_id: '6b1f0c3e-8f5e-4e53-9f4c-0a8a53f0c002',
  type: 'implementing',
  mode: 'work',
  status: 'working',
  provider: 'qwen',
  branch: 'work/greet',
  base_commit: 'abc123',
  plan_sha256: 'f'.repeat(64),
  approved_at: null,
  approved_by: null,
  approved_sha256: null,
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

const NONE = { reached: [], refused: [] };

const FILES: ChangedFile[] = [
  { path: 'greet.sh', what: 'changed', additions: 3, deletions: 1 },
  { path: 'logo.png', what: 'added', additions: null, deletions: null },
];

const done = (rest: Partial<WorkDone> = {}): WorkDone => ({
  session: SESSION,
  outcome: { status: 'completed' },
  at: '2026-11-21T10:02:05.400Z',
  asked: { title: 'Greet by name', description: 'Say ```hello``` to whoever asks.' },
  planned: true,
  changes: { files: FILES, left_out: [] },
  told: {
    calls: [
      call('a', 'npm test', 'failed'),
      call('b', 'printf "a\nb"', 'completed'),
      call('c', 'greet.sh', 'completed', 'edit'),
    ],
    network: { reached: ['a.example:443', 'b.example:80'], refused: ['127.0.0.1:4870'] },
    refs: [],
    git: [],
    left: [],
    questions: new Map(),
    refusals: [],
    last_words: 'It greets now.\n',
    usage: undefined,
    waits: false,
    only_waited: false,
    has_worked: false,
    asked: new Map(),
    was_asking: false,
  },
  usage: { input_tokens: 12_000, output_tokens: 150, cost_usd: null },
  ...rest,
});

describe('summaryOf', () => {
  it('says how it ended, what was asked, approved, changed, run and said, and what it cost', () => {
    assert.equal(
      summaryOf(done()),
      [
        '## How it ended\n\nCompleted at 2026-11-21 10:02 UTC, 2 min 5 s after planning began.',
        '**1 of 2 approved commands failed: `npm test`**',
        '## What was asked\n\nGreet by name\n\n````markdown\nSay ```hello``` to whoever asks.\n````',
        `## What was approved\n\n[plan.md](plan.md), SHA-256 \`${'f'.repeat(64)}\`. qwen worked on \`work/greet\`, from \`abc123\`.`,
        '## What changed\n\n2 files, +3 −1: see [diff.patch](diff.patch).\n\n```text\nchanged  greet.sh  +3 −1\nadded    logo.png  binary\n```',
        '## Commands run\n\n```text\nnpm test  failed\nprintf "a b"  completed\n```',
        '## Network\n\n```text\nReached: a.example:443, b.example:80; refused: 127.0.0.1:4870.\n```',
        '## Last words\n\n```markdown\nIt greets now.\n```',
        '## Cost\n\n12,000 tokens in, 150 tokens out.',
      ].join('\n\n'),
    );
  });

  it('says of each other end how far it went, and why', () => {
    for (const [status, mode, error, words] of [
      [
        'failed',
        'work',
        'It ```broke```.',
        /^Failed in Work mode at .*began\.\n\n````text\nIt ```broke```\.\n````$/m,
      ],
      ['failed', 'plan', 'No plan.', /^Failed in Plan mode at .*began\. Nothing was executed\.$/m],
      ['aborted', 'work', undefined, /^Aborted by the operator in Work mode at/m],
      [
        'aborted',
        'plan',
        undefined,
        /^Aborted by the operator in Plan mode .* Nothing was executed\.$/m,
      ],
      ['paused', 'work', undefined, /^Paused in Work mode .* The rest is as of then\.$/m],
      [
        'paused',
        'plan',
        'The daemon stopped.',
        /^Paused in Plan mode [\s\S]*The daemon stopped\./m,
      ],
    ] as const) {
      const outcome = { status, ...(error !== undefined && { error }) };
      assert.match(summaryOf(done({ outcome, session: { ...SESSION, mode } })), words);
    }
  });

  it('says what was planned where nothing was approved', () => {
    const session = { ...SESSION, mode: 'plan' as const };
    const planned = summaryOf(done({ session, changes: undefined }));
    assert.match(planned, /\[plan\.md\]\(plan\.md\), by qwen\. It was not approved\./);
    assert.doesNotMatch(planned, /What changed|approved\n/);
    const none = summaryOf(done({ session, changes: undefined, planned: false }));
    assert.match(none, /There is no plan yet of qwen\./);
  });

  it('leaves out what nobody knows, and says what nobody knows any more', () => {
    const summary = summaryOf(
      done({
        session: { ...SESSION, started_at: null },
        asked: { title: 'Greet', description: ' ' },
        changes: { files: [], left_out: [] },
        told: {
          calls: [],
          network: NONE,
          refs: [],
          git: [],
          left: [],
          questions: new Map(),
          refusals: [],
          last_words: '',
          usage: undefined,
          waits: false,
          only_waited: false,
          has_worked: false,
          asked: new Map(),
          was_asking: false,
        },
        usage: null,
      }),
    );
    assert.match(summary, /No file was changed\./);
    assert.match(summary, /qwen did not report its usage\.$/);
    assert.doesNotMatch(summary, /Commands|Last words|markdown|after planning/);
    const gone = summaryOf(done({ changes: { unknown: 'The worktree is gone.' } }));
    assert.match(gone, /It can no longer be determined:\n\n```text\nThe worktree is gone\.\n```/);
  });

  it('names what the patch cannot hold', () => {
    const summary = summaryOf(done({ changes: { files: FILES, left_out: ['inner/'] } }));
    assert.match(summary, /Not in the patch[\s\S]*\ninner\/\n/);
  });

  it('names what is still alive', () => {
    const { told } = done({});
    const summary = summaryOf(done({ told: { ...told, left: ['Processes outlived it: 7 (x).'] } }));
    assert.match(summary, /## Processes left\n\n```text\nProcesses outlived it: 7 \(x\)\.\n```/);
  });

  it('names what changed meanwhile, with the command that puts it back where nobody did it', () => {
    const oid = 'a'.repeat(40);
    const none = '0'.repeat(40);
    const left = (ref: string, more: object) => ({
      ref,
      before: oid,
      after: null,
      by: null,
      ...more,
    });
    const refs = [
      left('refs/heads/gone', {}),
      left("refs/tags/$(x);'y", { after: oid.replace('a', 'b') }),
      left('refs/tags/made', { before: null, after: oid }),
      left(`refs/stash@{${oid}}`, {}),
      left('refs/heads/link', { before: 'refs/heads/main' }),
      left('refs/heads/main', { after: 'b', by: 'An Operator <o@example.com>' }),
    ];
    const text = summaryOf(
      done({
        told: {
          calls: [],
          network: NONE,
          refs,
          git: [],
          left: [],
          questions: new Map(),
          refusals: [],
          last_words: '',
          usage: undefined,
          waits: false,
          only_waited: false,
          has_worked: false,
          asked: new Map(),
          was_asking: false,
        },
      }),
    );
    for (const line of [
      `git update-ref --no-deref refs/heads/gone ${oid} ${none}`,
      `git update-ref --no-deref 'refs/tags/$(x);'\\''y' ${oid} b${oid.slice(1)}`,
      `git update-ref --no-deref -d refs/tags/made ${oid}`,
      `git stash store ${oid}`,
      'git symbolic-ref refs/heads/link refs/heads/main',
      `# refs/heads/main: ${oid} → b, by An Operator <o@example.com>`,
    ])
      assert.ok(text.split('\n').includes(line), `${line}\nin\n${text}`);
    assert.doesNotMatch(summaryOf(done()), /meanwhile/);
  });

  it('says of a call that was not over whether it was killed, and of figures that there may be more', () => {
    const told = {
      ...done().told,
      calls: [call('a', 'npm test', 'in_progress'), call('b', 'make', 'pending')],
    };
    const usage = { input_tokens: 12, output_tokens: null, cost_usd: null, at_least: true };
    for (const status of ['paused', 'aborted', 'failed'] as const) {
      const summary = summaryOf(done({ told, usage, outcome: { status } }));
      assert.match(summary, /npm test {2}killed\nmake {2}killed/);
      assert.match(summary, /At least 12 tokens in\./);
    }
    assert.match(summaryOf(done({ told })), /npm test {2}ended\nmake {2}ended/);
    assert.doesNotMatch(summaryOf(done()), /At least/);
  });

  it('stays short, and says how much it leaves out', () => {
    const files = Array.from({ length: 150 }, (_, n) => ({
      path: `${n}.txt`,
      what: 'added' as const,
      additions: 1,
      deletions: 0,
    }));
    const asked = { title: 'Much', description: 'x'.repeat(5000) };
    const summary = summaryOf(done({ changes: { files, left_out: [] }, asked }));
    assert.match(summary, /150 files, \+150 −0/);
    assert.match(summary, /and 50 more files/);
    assert.match(summary, /x{1000} \[…\]/);
    assert.ok(summary.length < 6000);
  });
});
