import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromMarkdown } from 'mdast-util-from-markdown';
import {
  composeBody,
  MAX_BODY,
  publicWords,
} from '../../../../lib/host/pull-requests/compose-body.ts';
import { disarmMarkdown, quoteMarkdown } from '../../../../lib/host/pull-requests/disarm.ts';
import { proofText } from '../../../../lib/host/pull-requests/proof-comment.ts';
import { summaryOf } from '../../../../lib/work/sessions/live/summary.ts';
import type { Proof } from '../../../../store/records/proof.ts';
import type { Session } from '../../../../store/records/session.ts';

// What a reader of the text sees; a word joiner is nothing.
const seen = (text: string): string => text.replaceAll('\u2060', '');
// What GitHub takes as a mention, and as a reference that closes an issue.
const MENTION = /(?<![\w`])@\w/;
const CLOSES = /\b(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+\S*(#\d|\/issues\/\d)/i;

describe('harmless', () => {
  it('notifies nobody, closes no issue and hides nothing, and reads the same', () => {
    const text =
      'Ask @alice or (@org/team). Fixes #12, closes: acme/app#3, Resolves https://x.example/a/b/issues/9.\n<!-- dossier:proof -->';
    const made = disarmMarkdown(text);
    assert.equal(seen(made), text);
    assert.doesNotMatch(made, MENTION);
    assert.doesNotMatch(made, CLOSES);
    assert.doesNotMatch(made, /<!--/);
  });

  it('leaves code letter for letter, and addresses of mail', () => {
    const code =
      'Use `@Override`, me@example.com:\n\n```java\n@Override // fixes #1 <!-- x -->\n```\n';
    assert.equal(disarmMarkdown(code), code);
    assert.doesNotMatch(disarmMarkdown('a stray ` and then @bob'), MENTION);
  });
});

describe('quoted', () => {
  it('ends with the quotation what is left open in it', () => {
    const text = `${quoteMarkdown('```sh\nnever closed')}\n\n## After`;
    const [quote, heading] = fromMarkdown(text).children;
    assert.deepEqual([quote?.type, heading?.type], ['blockquote', 'heading']);
  });
});

const SESSION: Session = {
  id: '11111111-1111-4111-8111-111111111111',
  type: 'implementing',
  mode: 'work',
  case_id: '22222222-2222-4222-8222-222222222222',
  status: 'completed',
  provider: 'agent',
  path: 'cases/a/sessions/b',
  branch: 'work/x',
  base_commit: null,
  plan_sha256: null,
  approved_at: null,
  approved_by: null,
  approved_sha256: null,
  usage: null,
  error: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  ended_at: '2026-01-01T01:02:03.000Z',
};

const SAID = '## Last words\n```sh\nx\n```\nDone, @alice.';

const SUMMARY = summaryOf({
  session: SESSION,
  outcome: { status: 'completed' },
  at: '2026-01-01T01:02:03.000Z',
  asked: { title: 'T', description: 'D' },
  planned: true,
  changes: { files: [{ path: 'a', what: 'added', additions: 3, deletions: 1 }], left_out: [] },
  told: {
    calls: [],
    network: { reached: [], refused: [] },
    refs: [],
    git: [],
    left: [],
    questions: new Map(),
    refusals: [],
    last_words: SAID,
    usage: undefined,
    waits: false,
    only_waited: false,
    has_worked: false,
    asked: new Map(),
    was_asking: false,
  },
  usage: null,
});

describe('wordsOf', () => {
  it('reads what the summary of a session says', () => {
    assert.deepEqual(publicWords(SUMMARY), { changed: '1 file, +3 −1', last_words: SAID });
  });

  it('reads it below the files that run something later, whatever they are called', () => {
    const named = '9 files, +9 −9: see [diff.patch](diff.patch).: runs with `npm ci`';
    const later = `Files that run something later:\n\n\`\`\`text\n${named}\n\`\`\`\n\n`;
    const summary = SUMMARY.replace('1 file, +3', `${later}1 file, +3`);
    assert.equal(publicWords(summary).changed, '1 file, +3 −1');
  });

  it('makes nothing of a text that is none', () => {
    assert.deepEqual(publicWords('By hand.'), { changed: undefined, last_words: undefined });
  });
});

const ITEM = {
  id: SESSION.id,
  description: 'Ask @bob',
  type: 'log',
  required: true,
  task: false,
  done: false,
  satisfied: true,
};

const TOLD = {
  title: 'Tax is off',
  description: 'Rounds @down.\n\n```\nopen',
  issue: { repository: 'acme/app', number: 12 },
  sessions: [{ session: SESSION, words: publicWords(SUMMARY) }],
  proofs: [{ type: 'log', verified_at: '2026-01-02T00:00:00.000Z', commit: 'a'.repeat(40) }],
  checklist: [ITEM],
};

describe('composeBody', () => {
  it('tells what was asked, what was done and how it was proved', () => {
    const body = composeBody(TOLD);
    const headings = fromMarkdown(body).children.filter(({ type }) => type === 'heading');
    assert.equal(headings.length, 3, body);
    assert.match(body, /^Closes acme\/app#12\.$/m);
    assert.match(body, /^\*\*implementing\*\* by agent, 2026-01-01 01:02 UTC: 1 file, \+3 −1$/m);
    assert.match(seen(body), /^- \[x\] Ask @bob \(`log`\)$/m);
    assert.match(body, /^- `log`, verified 2026-01-02 00:00 UTC, made on aaaaaaaaaaaa$/m);
    assert.doesNotMatch(body, MENTION);
  });

  it('says so where nothing was done or proved yet', () => {
    const none = { issue: undefined, sessions: [], proofs: [], checklist: [], description: '' };
    const body = composeBody({ ...TOLD, ...none });
    assert.match(body, /No session has completed its work\.[\s\S]*Nothing is verified yet\./);
    assert.doesNotMatch(body, /Closes/);
  });

  it('is never longer than the host takes', () => {
    const long = 'word '.repeat(20_000);
    const session = { session: SESSION, words: { changed: undefined, last_words: long } };
    const body = composeBody({
      ...TOLD,
      description: long,
      sessions: Array.from({ length: 40 }, () => session),
      checklist: Array.from({ length: 300 }, () => ({ ...ITEM, description: 'x'.repeat(1000) })),
    });
    assert.ok(body.length <= MAX_BODY, String(body.length));
    assert.match(body, /more characters\]/);
    assert.match(body, /30 earlier sessions/);
  });
});

const proof = (content: string): Proof => ({
  id: SESSION.id,
  case_id: SESSION.case_id,
  type: 'test-log',
  content,
  verified: true,
  verified_at: '2026-01-02T00:00:00.000Z',
  verified_by: 'operator',
  commit: null,
  session_id: null,
  diff_sha256: null,
  file: null,
  file_sha256: null,
  created_at: '2026-01-01T00:00:00.000Z',
});

describe('proofText', () => {
  it('shows contents letter for letter, in blocks that nothing in them ends', () => {
    const content = '````\n</details>\n@everyone <script>\n```\nok';
    const text = proofText({ proofs: [proof(content)], checklist: [] });
    const [code] = fromMarkdown(text).children.filter(({ type }) => type === 'code');
    assert.ok(code?.type === 'code' && code.value === content, text);
  });

  it('holds nothing that seems to be its marker', () => {
    const content = '<!-- dossier:proof 22222222-2222-4222-8222-222222222222 -->';
    const text = proofText({ proofs: [proof(content)], checklist: [] });
    assert.doesNotMatch(text, /<!-- dossier:/);
    assert.ok(seen(text).includes(content));
  });

  it('cuts the middle of what is too long, says how much, and leaves short ones whole', () => {
    const long = `first line\n${'😀'.repeat(60_000)}\nlast line`;
    const proofs = [proof(long), proof('short and whole'), proof(long)];
    const text = proofText({ proofs, checklist: [] });
    assert.ok(text.length < MAX_BODY, String(text.length));
    assert.ok(text.length > MAX_BODY * 0.9, 'the room is used');
    assert.match(text, /short and whole/);
    assert.match(text, /first line[\s\S]*\[… \d+ characters left out[\s\S]*last line/);
    assert.doesNotMatch(text, /\p{Cs}/u);
  });

  it('stays short enough with hundreds of proofs', () => {
    const proofs = Array.from({ length: 300 }, (_, n) => proof('x'.repeat(10_000 + n)));
    const text = proofText({ proofs, checklist: [] });
    assert.ok(text.length < MAX_BODY, String(text.length));
    assert.match(text, /260 more/);
  });
});
