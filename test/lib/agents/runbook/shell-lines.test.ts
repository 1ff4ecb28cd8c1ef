import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandLines } from '../../../../lib/agents/runbook/shell-blocks.ts';

const inBlock = (script: string, info = 'sh'): string[] =>
  commandLines(`Do it:\n\n\`\`\`${info}\n${script}\n\`\`\`\n`);

describe('commandLines', () => {
  it('has the lines of fenced shell blocks, each once, in order', () => {
    const plan = [
      'Run `rm -rf x`, then:\n\n    npm run prose\n',
      '```sh\nnpm ci\n  npm test  \n\n# a comment\nnpm ci\n```',
      '- In a list:\n\n  ```bash title="x"\n  npm run lint && npm run types\n  ```',
      '> ```shell\n> make\n> ```',
      '```js\nnpm run js\n```',
      '```\nnpm run unmarked\n```',
      '<!--\n```sh\nnpm run hidden\n```\n-->',
    ].join('\n\n');
    assert.deepEqual(commandLines(plan), [
      'npm ci',
      'npm test',
      'npm run lint && npm run types',
      'make',
    ]);
  });

  for (const [line, command] of [
    ['npm test # runs all', 'npm test'],
    ['npm test #', 'npm test'],
    ['echo "a # b"', 'echo "a # b"'],
    ["echo 'it # is' # so", "echo 'it # is'"],
    ['echo a#b', 'echo a#b'],
    ['echo \\# a', 'echo \\# a'],
    ['echo "$(date)" | tee a', 'echo "$(date)" | tee a'],
    ['find . -exec rm {} +', 'find . -exec rm {} +'],
    ['set -euo pipefail\nnpm test', 'npm test'],
    ['CI=1 npm test', 'CI=1 npm test'],
    ['A="b c" D=$E npm test', 'A="b c" D=$E npm test'],
    ['npm run dry-while', 'npm run dry-while'],
    ['cd-to-root', 'cd-to-root'],
    ['done.sh', 'done.sh'],
  ] as const)
    it(`takes ${JSON.stringify(line)} as ${JSON.stringify(command)}`, () => {
      assert.deepEqual(inBlock(line), [command]);
    });

  for (const opens of [
    'cat > a.sh <<EOF',
    'cat <<-"EOF" | sh',
    'docker run \\',
    'npm test |',
    'npm test &&',
    'npm test ||',
    'echo "a',
    "echo 'a",
    'echo `a',
    'echo $(a',
    'if true; then',
    'for a in b; do',
    'while read a',
    'case a in',
    'f() {',
    'npm() { evil; }',
    '{',
    '(',
    '[[ a',
    'function f',
    'ls | while read a; do',
    'npm run lint; for a in *; do',
    'test -f a && if true; then',
    'npm test || {',
    `echo ${'x'.repeat(1000)}`,
  ])
    it(`ends before ${JSON.stringify(opens.slice(0, 20))}`, () => {
      assert.deepEqual(inBlock(`npm ci\n${opens}\nrm -rf build\nEOF`), ['npm ci']);
    });

  for (const changes of [
    'cd sub',
    'cd sub && npm ci',
    'npm ci; cd sub',
    'pushd sub',
    'export PATH=/tmp',
    'PATH=/tmp',
    'A=1; B="2 3"',
    'alias npm=evil',
    '. ./env',
    'source env',
    'set -- a b',
    'exec 3<a',
    'DIR=$(mktemp -d)',
    'DIR="$(mktemp -d "a b")"',
    'DIR=`mktemp -d`',
    'A=1 B=2',
    'A=b\\ c',
    'A=(b c)',
    'A[0]=b',
    'CI=1 cd sub',
    '! cd sub',
    'command cd sub',
    'builtin cd sub',
  ])
    it(`ends after ${JSON.stringify(changes)}`, () => {
      assert.deepEqual(inBlock(`make\n${changes}\nnpm test`), ['make', changes]);
    });

  it('begins anew with each block', () => {
    const plan = '```sh\ncat <<EOF\n```\n\n```sh\nnpm test\n```\n';
    assert.deepEqual(commandLines(plan), ['npm test']);
  });

  it('is empty where a block hides text', () => {
    for (const hidden of ['npm\u200b test', 'npm\u00a0test', `npm test${' '.repeat(200)}; evil`])
      assert.deepEqual(inBlock(`make\n${hidden}`), [], JSON.stringify(hidden));
  });

  it('has a hundred commands at most', () => {
    const lines = Array.from({ length: 101 }, (_, at) => `echo ${at}`);
    assert.deepEqual(inBlock(lines.join('\n')), lines.slice(0, 100));
  });
});
