import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { assertSentence, dossierIn } from '../../../helpers/command.ts';
import { putConversations, SESSIONS } from '../../../helpers/conversations.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

const start = async (t: TestContext) => {
  const [workspace, home] = [temporaryDirectory(t), temporaryDirectory(t)];
  const { root, git } = makeRepository(t, { files: { 'greet.sh': 'echo hello\n' } });
  putConversations(home, root);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root], { HOME: home });
  const api = connect({ url: daemon.url });
  const run = (words: string[], input?: string) =>
    dossierIn(t, { cwd: root, ...(input !== undefined && { input }) }, [
      ...words,
      ...['--workspace', workspace],
    ]);
  const titles = async () => (await api.call('GET /cases')).map(({ title }) => title);
  const memoryOf = async () => {
    const [item] = await api.call('GET /cases');
    return api.call('GET /cases/{id}/memory/{filename}', {
      ...{ id: item?.id ?? '', filename: 'adopted.md' },
    });
  };
  const typed = (answers: Parameters<typeof atTerminal>[2], env = {}) =>
    atTerminal(t, ['adopt', 'claude:ddb0', '--workspace', workspace], answers, { cwd: root, env });
  return { workspace, root, git, api, run, titles, memoryOf, typed };
};

describe('dossier adopt', () => {
  it('lists what could be adopted, one a line', async (t) => {
    const { git, root, run } = await start(t);
    git('switch', '--quiet', '--create', 'topic');
    git('commit', '--quiet', '--allow-empty', '-m', 'On the way');
    git('switch', '--quiet', 'main');
    const { code, stdout } = await run(['adopt']);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    assert.deepEqual(
      [code, rows.map(([name, , branch, what]) => [name, branch, what])],
      [
        0,
        [
          ['codex:01a218ea', 'main', 'Count the words of greet.sh'],
          ['claude:2800304d', 'main', 'Say goodbye, too'],
          ['claude:ddb03d35', 'main', 'Greet by name, not only the world'],
          ['topic', 'topic', '1 commit: On the way'],
        ],
      ],
    );
    assert.equal(JSON.parse((await run(['adopt', '--json'])).stdout).repository, root);
    const unnamed = await run(['adopt', '--title', 'Greet']);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /--title needs a NAME: dossier adopt NAME --title\./);
  });

  it('takes what is named by itself or by the beginning of its id, and says what is not', async (t) => {
    const { run, titles } = await start(t);
    assertSentence(await run(['adopt', 'nowhere']), /named nowhere, or it is already a Work item/);
    assertSentence(await run(['adopt', 'claude:01a2']), /named claude:01a2/);
    assertSentence(await run(['adopt', 'ddb']), /named ddb/);
    assert.deepEqual(await titles(), []);
    const { code, stdout } = await run(
      ['adopt', '01a218ea', '--file', '-', '--title', 'Count'],
      'Mine\n',
    );
    assert.equal(code, 0);
    assert.match(stdout, /\tCount\nNext: dossier start [0-9a-f]{8}/);
    const again = await run(['adopt', '01a218ea']);
    assertSentence(again, /codex:01a218ea is the Work item [0-9a-f]{8} already/);
  });

  it('creates nothing without a terminal until the text is given back', async (t) => {
    const { root, run, titles, memoryOf, git } = await start(t);
    writeFileSync(join(root, 'open.txt'), 'open');
    const shown = await run(['adopt', 'claude:ddb0']);
    assert.equal(shown.code, 4);
    assert.match(shown.stderr, /dossier adopt claude:ddb03d35 --file FILE/);
    assert.deepEqual(await titles(), []);
    const said = `${shown.stdout}Mine.\n`;
    const { stdout, stderr } = await run(['adopt', 'claude:ddb0', '--file', '-'], said);
    assert.match(
      stdout,
      /\nCopied 1 uncommitted file to .*; the originals are unchanged\.\n/,
      stderr,
    );
    assert.equal(await memoryOf(), said);
    assert.equal(git('status', '--porcelain'), '?? open.txt\n');
  });

  it('asks at a terminal: no creates nothing, edit takes the edited text', {
    skip: noTerminal,
  }, async (t) => {
    const { titles, typed, memoryOf } = await start(t);
    const no = await typed([[/e\(dit\)\] /, '\r']]);
    assert.deepEqual([no.code, await titles()], [1, []]);
    assert.match(no.text, /What came before[\s\S]*Nothing was created\./);
    const EDITOR = `sh -c 'echo "# Edited" > "$1"' -`;
    const edited = await typed([[/e\(dit\)\] /, 'e\r']], { EDITOR, VISUAL: EDITOR });
    assert.equal(edited.code, 0, edited.text);
    assert.equal(await memoryOf(), '# Edited\n');
    assert.deepEqual(await titles(), ['Greet by name, not only the world']);
    assert.ok(SESSIONS.planned.startsWith('ddb0'));
  });
});
