import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planReferences } from '../../../../lib/cli/verbs/plan.ts';

describe('planReferences', () => {
  it('lists the lines of shell blocks and the files of the text, and nothing of other blocks', () => {
    const plan = [
      '# Change `src/a.ts`',
      'Edit ./README, docs/how to.md and **lib/b.py**. See https://example.com/x.md, e.g. 1.2.3',
      'and/or Node 20; (.gitignore)',
      '```sh\n# a comment\nnpm test -- src/c.ts\n  rm -rf build\n```',
      '```ts\nimport "./not.ts";\n```',
    ].join('\n\n');
    assert.deepEqual(planReferences(plan), [
      'Commands in the plan:',
      '  npm test -- src/c.ts',
      '    rm -rf build',
      'Files in the plan:',
      '  src/a.ts',
      '  README',
      '  to.md',
      '  lib/b.py',
      '  .gitignore',
    ]);
  });

  it('says how many more there are, and nothing where there are none', () => {
    const block = `\`\`\`bash\n${'true\n'.repeat(25)}\`\`\`\n`;
    assert.equal(planReferences(block).at(-1), '  … and 5 more in the plan');
    assert.deepEqual(planReferences('Think about it.'), []);
  });

  it('lists no commands where all of them are listed as unasked', () => {
    const plan = '```sh\nnpm test\n  rm -rf build\n```';
    assert.deepEqual(planReferences(plan, ['npm test', 'rm -rf build']), []);
    assert.equal(planReferences(plan, ['npm test']).length, 3);
  });
});
