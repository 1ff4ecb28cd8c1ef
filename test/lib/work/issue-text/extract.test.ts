import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Check } from 'typebox/value';
import { extractIssue } from '../../../../lib/work/issue-text/extract.ts';
import { ExtractedIssue } from '../../../../store/records/extracted.ts';

const FORM = `### Is there an existing issue for this?

- [X] I have searched the existing issues

### Current Behavior

Running \`acme build\` with an empty config prints a stack trace.
It started with #41 and acme/tools#7, not with \`#99\`.

### Expected Behavior

A message that names the missing key.

### Steps To Reproduce

1. Make an empty \`acme.toml\`
2. Run:
   \`\`\`sh
   acme build # now
   \`\`\`
3. See the error

### Environment

\`\`\`markdown
- OS: Ubuntu 22.04
- Node: 20.1
\`\`\`

### Version

2.1.0

### Relevant log output

\`\`\`shell
TypeError: Cannot read properties of undefined (reading 'key')
    at load (src/config.ts:12:5)
\`\`\`

### Anything else?

_No response_
`;

const CLASSIC = `<!-- thanks for reporting! # not a heading -->
**Describe the bug**
A clear thing fails. See [the docs](https://example.com/docs_(old)).

**To Reproduce**
Steps to reproduce the behavior:
1. Go to 'Settings'
2. Click on 'Save'
   - twice

**Expected behavior**
Works. <!-- say more -->

**Desktop (please complete the following information):**
 - OS: [e.g. iOS]
 - Browser: [e.g. chrome] firefox
`;

const LOOSE = `It crashes when I save a file with an emoji in lib/save.ts.
Expected: it saves
Actual: Error: invalid byte in src/a.py

> panic: runtime error: index out of range
> goroutine 1

- [ ] save with emoji
- [x] save without
  * [ ] and nested

see https://github.com/acme/app/pull/12.`;

describe('extractIssue', () => {
  it('takes what an issue form writes apart', () => {
    const issue = extractIssue(FORM, 'Crash on empty config');
    assert.equal(issue.title, 'Crash on empty config');
    assert.deepEqual(issue.steps, [
      'Make an empty `acme.toml`',
      'Run: `acme build # now`',
      'See the error',
    ]);
    assert.equal(issue.expected, 'A message that names the missing key.');
    assert.match(issue.actual ?? '', /^Running `acme build`/);
    assert.deepEqual(issue.environment, [
      { name: 'OS', value: 'Ubuntu 22.04' },
      { name: 'Node', value: '20.1' },
      { name: 'Version', value: '2.1.0' },
    ]);
    assert.deepEqual(issue.mentions, [
      { repository: null, number: 41, kind: 'unknown' },
      { repository: 'acme/tools', number: 7, kind: 'unknown' },
    ]);
    assert.deepEqual(issue.files, ['acme.toml', 'src/config.ts']);
    assert.deepEqual(issue.errors, [
      "TypeError: Cannot read properties of undefined (reading 'key')",
    ]);
    assert.equal(issue.logs.length, 1);
    assert.deepEqual(
      issue.code_blocks.map(({ language, section }) => [language, section]),
      [
        ['sh', 'Steps To Reproduce'],
        ['markdown', 'Environment'],
        ['shell', 'Relevant log output'],
      ],
    );
    assert.equal(issue.code_blocks[0]?.content, 'acme build # now');
  });

  it('leaves out a section that nobody answered', () => {
    const { sections } = extractIssue(FORM);
    assert.equal(sections.length, 7);
    assert.ok(sections.every(({ heading }) => heading !== 'Anything else?'));
  });

  it('says the same of CRLF, and of a byte order mark before it', () => {
    const crlf = `\uFEFF${FORM.replaceAll('\n', '\r\n')}`;
    assert.deepEqual(extractIssue(crlf), extractIssue(FORM));
  });

  it('reads bold lines as headings and drops the comments of a template', () => {
    const issue = extractIssue(CLASSIC);
    assert.deepEqual(
      issue.sections.map(({ kind }) => kind),
      ['summary', 'steps', 'expected', 'environment'],
    );
    assert.deepEqual(issue.steps, ["Go to 'Settings'", "Click on 'Save'", 'twice']);
    assert.equal(issue.expected, 'Works.');
    assert.deepEqual(issue.environment, [{ name: 'Browser', value: 'firefox' }]);
    assert.deepEqual(issue.links, [{ text: 'the docs', url: 'https://example.com/docs_(old)' }]);
    assert.doesNotMatch(JSON.stringify(issue), /thanks for reporting|say more/);
  });

  it('finds labels, check boxes and quoted output where there is no heading at all', () => {
    const issue = extractIssue(LOOSE);
    assert.equal(issue.expected, 'it saves');
    assert.equal(issue.actual, 'Error: invalid byte in src/a.py');
    assert.match(issue.summary, /^It crashes/);
    assert.deepEqual(issue.logs, ['panic: runtime error: index out of range\ngoroutine 1']);
    assert.deepEqual(
      issue.checklist.map(({ text, checked }) => [text, checked]),
      [
        ['save with emoji', false],
        ['save without', true],
        ['and nested', false],
      ],
    );
    assert.deepEqual(issue.files, ['lib/save.ts', 'src/a.py']);
    assert.deepEqual(issue.mentions, [{ repository: 'acme/app', number: 12, kind: 'pull' }]);
  });

  it('understands several wordings of a heading', () => {
    const wordings: [string, string][] = [
      ['## What did you expect to happen?', 'expected'],
      ['## ✅ Expected result', 'expected'],
      ['# What happened instead', 'actual'],
      ['Actual behaviour\n---', 'actual'],
      ['How to reproduce\n===', 'steps'],
      ['### 2. Repro steps:', 'steps'],
      ['## Acceptance Criteria', 'acceptance'],
      ['**Definition of done**', 'acceptance'],
      ['## System info', 'environment'],
      ['#### Stack trace', 'logs'],
      ['## To-do', 'tasks'],
      ['## Expected vs. actual', 'other'],
      ['## Screenshots', 'other'],
    ];
    for (const [heading, kind] of wordings) {
      const { sections } = extractIssue(`${heading}\n\nSome words.\n`);
      assert.deepEqual([heading, sections[0]?.kind], [heading, kind]);
      assert.equal(sections[0]?.content, 'Some words.');
    }
  });

  it('keeps a long code block whole, whatever looks like a heading in it', () => {
    const log = Array.from({ length: 2000 }, (_, at) => `# line ${at}`).join('\n');
    const { code_blocks, sections } = extractIssue(`## Logs\n\n\`\`\`\n${log}\n\`\`\`\n`);
    assert.equal(sections.length, 1);
    assert.equal(code_blocks[0]?.content, log);
  });

  it('keeps every item of a list that is longer than a piece', () => {
    const items = Array.from({ length: 500 }, (_, at) => `- [ ] check the thing number ${at}`);
    const { acceptance_criteria, checklist } = extractIssue(
      `## Acceptance criteria\n${items.join('\n')}\n`,
    );
    assert.equal(acceptance_criteria.length, 500);
    assert.equal(checklist.at(-1)?.section, 'Acceptance criteria');
  });

  it('reads 256 KB of a text, and says that there is more', () => {
    const { truncated, summary } = extractIssue('word '.repeat(60_000));
    assert.equal(truncated, true);
    assert.ok(summary.length < 270_000);
  });

  const HOSTILE: Record<string, string> = {
    quotes: '>'.repeat(65_536),
    'lists in lists': '- '.repeat(32_768),
    'lists in lists before blank lines': `${'- '.repeat(16_384)}${'\n'.repeat(32_768)}`,
    'quotes over many lines': `${'>'.repeat(300)}a\n${'b\n'.repeat(32_768)}`,
    underlines: 'a\n-\n'.repeat(16_384),
    brackets: '[a]('.repeat(16_384),
    emphasis: '**a *b_ '.repeat(8192),
    backticks: '`a'.repeat(32_768),
    comments: '<!--'.repeat(16_384),
    tags: '<a b="'.repeat(10_000),
    'a fence that never ends': `- x\n   \`\`\`\n${'>'.repeat(30_000)}`,
    'one word': 'a'.repeat(65_536),
    paths: 'a/'.repeat(32_768),
    'rows of a table': `|a|\n|-|\n${'|a'.repeat(30_000)}`,
  };
  for (const [name, text] of Object.entries(HOSTILE)) {
    it(`reads ${name} to the end`, () => {
      assert.ok(Check(ExtractedIssue, extractIssue(text)));
    });
  }

  it('never throws, and answers what its schema says, the same each time', () => {
    const bits = ['# ', '- [ ] ', '```', '\n', '> ', '**Expected**', '<!--', '-->', '[a](', '#1'];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...bits), fc.string({ unit: 'binary', maxLength: 12 })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (markdown) => {
        const first = extractIssue(markdown);
        assert.ok(Check(ExtractedIssue, first));
        assert.deepEqual(extractIssue(markdown), first);
      }),
      { numRuns: 200 },
    );
  });
});
