import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PromptParts } from '../../../../lib/agents/provider.ts';
import { proposePlan } from '../../../../lib/agents/runbook/runbook.ts';
import { firstLine } from '../../../../lib/agents/runbook/shell-blocks.ts';
import { shellBlocks } from '../../../../lib/text/markdown/fences.ts';

const partsWith = (parts: Partial<PromptParts>): PromptParts => ({
  title: 'Say hello',
  type: 'chore',
  description: '',
  memory: [],
  global_memory: [],
  ...parts,
});

const scripts = (markdown: string): string[] => shellBlocks(markdown).map(({ script }) => script);

describe('shellBlocks', () => {
  it('reads sh, bash and shell blocks and no others', () => {
    const markdown = ['sh', 'bash', 'shell', 'SH -x', 'zsh', 'console', '', 'js']
      .map((info) => `\`\`\`${info}\necho ${info}\n\`\`\`\n`)
      .join('\n');

    assert.deepEqual(
      shellBlocks(markdown).map(({ shell, script }) => [shell, script]),
      [
        ['sh', 'echo sh\n'],
        ['bash', 'echo bash\n'],
        ['sh', 'echo shell\n'],
        ['sh', 'echo SH -x\n'],
      ],
    );
  });

  it('leaves out blocks with nothing in them', () => {
    assert.deepEqual(scripts('```sh\n \n\n```'), []);
  });
});

describe('firstLine', () => {
  it('skips blank lines', () => {
    assert.equal(firstLine('\n  npm ci \nnpm test\n'), 'npm ci');
    assert.equal(firstLine('\n'), '');
  });
});

describe('proposePlan', () => {
  it('takes the blocks of tasks.md and not those of the description', () => {
    const plan = proposePlan(
      partsWith({
        description: '```sh\necho description\n```',
        memory: [
          { filename: 'hypotheses.md', content: '```sh\necho hypotheses\n```' },
          { filename: 'tasks.md', content: 'Greet:\n```sh\necho tasks\n```' },
        ],
      }),
    );

    assert.deepEqual(scripts(plan), ['echo tasks\n']);
    assert.match(plan, /^# Plan: Say hello\n/);
    assert.match(plan, /^## Step 1: Greet$/m);
    assert.match(plan, /Approving this plan runs/);
  });

  it('takes those of the description where there is no tasks.md', () => {
    const plan = proposePlan(
      partsWith({ description: '```sh\necho one\n```\n```bash\n[[ 1 ]]\n```' }),
    );

    assert.deepEqual(shellBlocks(plan), [
      { shell: 'sh', script: 'echo one\n', lead: 'Step 1' },
      { shell: 'bash', script: '[[ 1 ]]\n', lead: 'Step 2' },
    ]);
  });

  it("warns of commands that came with an issue, and not of the operator's own", () => {
    const description = '```sh\nmake\n```\n';
    const imported = { description, issue: 'acme/app#12' };
    assert.match(proposePlan(partsWith(imported)), /Others wrote these commands.*acme\/app#12/);
    assert.doesNotMatch(proposePlan(partsWith({ description })), /Others wrote/);
    const memory = [{ filename: 'tasks.md', content: description }];
    assert.doesNotMatch(proposePlan(partsWith({ ...imported, memory })), /Others wrote/);
  });

  it('keeps every byte of a block, also where the block holds fences, tabs and markup', () => {
    const script = "cat > R.md <<'E'\n```sh\nrm -rf /\n```\n````\n\ttab  \n<!-- -->\nE\n";
    const plan = proposePlan(
      partsWith({ description: `- do\n\n  ~~~sh\n${indent(script)}  ~~~\n` }),
    );

    assert.deepEqual(scripts(plan), [script]);
  });

  it('says plainly that nothing would be run where there is no shell block', () => {
    const plan = proposePlan(partsWith({ description: 'Just talk. `sh`' }));

    assert.match(plan, /Nothing would be run/);
    assert.match(plan, /add fenced `sh` blocks/);
    assert.deepEqual(scripts(plan), []);
  });

  it('shows the comment with which a plan was sent back, and runs nothing of it', () => {
    const plan = proposePlan(partsWith({ feedback: 'Not this:\n```sh\nrm -rf /\n```' }));

    assert.match(plan, /Not this:/);
    assert.deepEqual(scripts(plan), []);
  });
});

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
