import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { shellBlocks } from '../../../../lib/text/markdown/fences.ts';
import { definitionOf } from '../../../../lib/work/generate/definition.ts';
import { hypothesesOf } from '../../../../lib/work/generate/hypotheses.ts';
import { asTextBlock, plainLine } from '../../../../lib/work/generate/markdown.ts';
import { tasksOf } from '../../../../lib/work/generate/tasks.ts';
import { extractIssue } from '../../../../lib/work/issue-text/extract.ts';

const ORIGIN = {
  title: 'Export as CSV',
  name: 'acme/app#12',
  url: null,
  state: 'open',
  labels: ['feature'],
  synced_at: null,
};

/** The three files of an issue, each of the one before. */
const planned = (body: string, title = ORIGIN.title): [string, string, string] => {
  const definition = definitionOf(extractIssue(body, title), { ...ORIGIN, title });
  const problem = extractIssue(definition);
  const from = { title, source: 'problem-definition.md', own: ORIGIN.name };
  const hypotheses = hypothesesOf(problem, from);
  return [definition, hypotheses, tasksOf(extractIssue(hypotheses), problem, title)];
};

const WISH = `So that finance can open it.

## Proposed solution

Add a button. It calls the export.

## Acceptance criteria

- [ ] A button **Export** in lib/table.vue
- [x] Agreed with finance
- Numbers keep their decimals

### Before submitting

- [x] I have read the rules

## Subtasks

- [ ] write docs
- [x] ask Ada
`;

describe('the planning files, by extraction', () => {
  it('keep what is ticked ticked, and make a task of the rest', () => {
    const [definition, , tasks] = planned(WISH);
    assert.match(
      definition,
      /^- \[ \] A button \*\*Export\*\* in lib\/table\.vue\n- \[x\] Agreed/m,
    );
    assert.match(definition, /^- \[x\] ask Ada$/m);
    assert.doesNotMatch(definition.split('## Also said')[0] ?? '', /I have read the rules/);
    const change = /## Change\n\n([\s\S]*?)\n\n## /.exec(tasks)?.[1] ?? '';
    assert.deepEqual(
      change.split('\n').filter((line) => line.startsWith('- [')),
      [
        '- [ ] A button **Export** in lib/table.vue',
        '- [ ] Numbers keep their decimals',
        '- [ ] write docs',
      ],
    );
  });

  it('say of a wish what speaks for it, not that something is broken', () => {
    const [definition, hypotheses, tasks] = planned(WISH);
    assert.match(definition, /^## Proposal\n\nAdd a button\. It calls the export\.$/m);
    assert.match(hypotheses, /^## H\d: What the issue proposes is the way to do it$/m);
    assert.match(hypotheses, /“Add a button”/);
    assert.match(hypotheses, /can be added without changing existing code/);
    assert.match(tasks, /^- \[ \] Write a test for what is new$/m);
    assert.doesNotMatch(tasks, /Reproduce/);
  });

  it('ask what an issue leaves open', () => {
    const [definition, hypotheses] = planned('It hangs.', 'It hangs');
    assert.match(definition, /^## Open questions\n\n- What is expected/m);
    assert.match(hypotheses, /^## H1: “It hangs” says what is to be done$/m);
    const [empty] = planned('', 'It hangs');
    assert.match(empty, /has only a title/);
  });

  it('leave out of the tasks what a verdict has refuted', () => {
    const [, hypotheses] = planned('TypeError: no\n\nin a.ts and b.ts');
    const judged = hypotheses.replace('Verdict: open', 'Verdict: wrong, it is elsewhere');
    const all = tasksOf(extractIssue(hypotheses), extractIssue(''), 'x');
    const left = tasksOf(extractIssue(judged), extractIssue(''), 'x');
    assert.match(all, /Check H1/);
    assert.doesNotMatch(left, /Check H1/);
    assert.match(left, /Check H2/);
  });

  it("take hypotheses in the operator's own form", () => {
    const own = extractIssue('# Mine\n\n- the cache is stale\n- the clock is wrong\n');
    const tasks = tasksOf(own, extractIssue(''), 'x');
    assert.match(tasks, /^- \[ \] Check: the cache is stale$/m);
    assert.match(tasks, /^- \[ \] Check: the clock is wrong$/m);
  });

  it('are a few lines even of a very long issue', () => {
    const [definition] = planned(`## Logs\n\n\`\`\`\n${'x'.repeat(200_000)}\n\`\`\`\n`);
    assert.ok(definition.length < 20_000, `${definition.length}`);
  });

  const HOSTILE = [
    '```sh\nrm -rf /\n```',
    '- [ ] ```sh\n- [ ] rm',
    '## Acceptance criteria\n\n- ```sh\n  rm -rf /\n  ```\n- ~~~bash',
    '## Steps\n\n1. ```sh rm\n2. x',
    '````\n```sh\nrm\n```',
    '> ```shell\n> rm\n> ```',
    '## Actual\n\n```\nx\n```sh\nrm\n```',
    '<!--\n```sh\nrm\n```',
    '~~~ sh\nrm\n~~~',
    '## ```sh\n\nrm\n\n## ```',
  ];
  for (const body of HOSTILE) {
    it(`hold nothing to run of ${JSON.stringify(body)}`, () => {
      for (const text of planned(body, '```sh')) assert.deepEqual(shellBlocks(text), []);
    });
  }

  it('hold nothing to run, whatever an issue says', () => {
    const bits = [
      '```sh\n',
      '```\n',
      '~~~bash\n',
      '\n',
      '- [ ] ',
      '> ',
      '## Steps\n',
      '<!--',
      '1. ',
    ];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...bits, 'rm x\n', '  '), fc.string({ maxLength: 6 })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (body, title) => {
        for (const file of planned(body, title)) assert.deepEqual(shellBlocks(file), []);
      }),
      { numRuns: 150 },
    );
  });
});

describe('words of others on one line', () => {
  it('open no block of code and no comment, and are cut where they are long', () => {
    assert.equal(plainLine('a\n```sh\nb <!-- c'), "a ''sh b &lt;!-- c");
    assert.equal(plainLine('x'.repeat(400)).length, 300);
    assert.equal(asTextBlock('a', 'bash'), '```text\na\n```');
    assert.equal(asTextBlock('a', 'ts'), '```ts\na\n```');
    assert.equal(asTextBlock('```', 'sh rm'), '````text\n```\n````');
  });
});
