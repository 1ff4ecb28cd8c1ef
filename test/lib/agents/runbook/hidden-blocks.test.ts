import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hiddenBlock } from '../../../../lib/agents/runbook/shell-blocks.ts';

const RUNS = '```sh\necho ok\n```\n';

describe('what keeps a plan with shell blocks from being approved', () => {
  it('is nothing where all of it is seen', () => {
    assert.equal(hiddenBlock(`# Plan\r\n\r\n${RUNS}`), undefined);
    assert.equal(
      hiddenBlock(`\uFEFF# Plan\n\n👨‍👩‍👧 \u200b is told, and runs nothing.\n\n${RUNS}`),
      undefined,
    );
  });

  it('is a carriage return, behind any number of other invisible characters', () => {
    for (const count of [0, 1, 99, 100, 101, 5000])
      for (const between of ['', 'x'])
        assert.match(
          hiddenBlock(`# Plan\n${`\u200b${between}`.repeat(count)}\rnot seen\n\n${RUNS}`) ?? '',
          /^Line 2 of the plan contains a carriage return \(␍\) without a line feed/,
          `${count}`,
        );
  });

  it('is an invisible character in any block, behind any number of others', () => {
    const before = '\u200bx'.repeat(200);
    const hidden = '```sh\necho a\u202eb\n```\n';
    assert.match(
      hiddenBlock(`${before}\n\n${RUNS.repeat(200)}\n${hidden}`) ?? '',
      /Block 201 of 201/,
    );
    assert.match(hiddenBlock('```sh\n\uFEFFecho ok\n```\n') ?? '', /Invisible characters/);
  });

  it('is an invisible character by which another block runs than is read', () => {
    for (const hidden of ['\u2028', '\uFEFF', '\u000b'])
      assert.match(
        hiddenBlock(`\`\`\`sh${hidden}\necho ok\n\`\`\`\n`) ?? '',
        /Invisible characters change which shell blocks/,
      );
  });
});
