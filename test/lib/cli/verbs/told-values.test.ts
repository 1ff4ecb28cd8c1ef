import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { assertSentence, dossier, dossierIn } from '../../../helpers/command.ts';
import { DOSSIER } from '../../../helpers/daemon.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

/** What a script prints that calls the command as `"$0" "$1"` for the workspace `"$2"`. */
const inShell = async (script: string, workspace: string, cwd?: string): Promise<string> => {
  const args = ['-c', `{ ${script}; } 2>&1 || true`, process.execPath, DOSSIER, workspace];
  return (await promisify(execFile)('sh', args, { cwd })).stdout;
};

describe('a refused value', () => {
  it('is named by the command, with what to give instead', async (t) => {
    const { workspace } = await withPlan(t);
    for (const [words, message] of [
      ['wait make --for end', /--for takes plan or done, not end\./],
      ['wait make --timeout 3x', /--timeout takes 30s, 10m or 2h, not 3x\./],
      ['logs -n abc', /-n takes a number of lines from 1 to 999999, not abc\./],
      ['tail make -n abc', /-n takes a number of events from 1 to 999999, not abc\./],
      ['approve make --hash 00', /--hash needs all 64 digits .*, not 00\./],
    ] as const) {
      const { code, stderr } = await dossier(t, ...words.split(' '), '--workspace', workspace);
      assert.equal(code, 2, words);
      assert.match(stderr, message);
    }
  });
});

describe('dossier say', () => {
  it('names commands instead of calls, takes UTF-8 only, and begins a second session', async (t) => {
    const { workspace, dossier: api, at } = await withPlan(t);
    const said = (...words: string[]) => dossier(t, ...words, '--workspace', workspace);
    assertSentence(
      await said('say', 'make', 'Do it', '--approve'),
      /is plan_ready, and --approve is for a session that has ended\. Leave it out, or approve the plan: dossier approve [0-9a-f]{8}/,
    );
    await api.call('POST /api/cases/{id}/session/abort', { id: at.id, body: {} });
    const latin = "printf 'gr\\374n'";
    assert.equal(
      await inShell(`${latin} | "$0" "$1" say make - --workspace "$2"`, workspace),
      'dossier: Standard input is not UTF-8. Save it as UTF-8.\n',
    );
    assert.match(
      await inShell(`"$0" "$1" say make "$(${latin})" --workspace "$2"`, workspace),
      /^dossier: The text is not UTF-8: "gr.n"\. Send it as UTF-8, for example with iconv -t UTF-8\.\n$/,
    );
    const input = 'A \ufffd is a character\n';
    const sent = await dossierIn(t, { input }, ['say', 'make', '-', '--workspace', workspace]);
    assert.equal(sent.code, 0, sent.stderr);
    const sessions = await api.call('GET /cases/{id}/sessions', { id: at.id });
    assert.equal(sessions.length, 2);
    const { stderr } = await said('diff', 'make');
    assert.match(stderr, /This is session [0-9a-f]{8}\. --session selects another: [0-9a-f]{8}/);
    const first = await said('diff', 'make', '--session', at.sid.slice(0, 8));
    assert.doesNotMatch(first.stderr, /--session selects/);
  });
});

describe('dossier export', () => {
  it('says what became of the incomplete file where it fails', async (t) => {
    const { workspace } = await withPlan(t);
    const cwd = temporaryDirectory(t);
    // A file larger than one block cannot be written.
    const script = 'ulimit -f 1; "$0" "$1" export --workspace "$2"';
    assert.match(
      await inShell(script, workspace, cwd),
      /The export failed: EFBIG.*\. The incomplete file .*\.part was removed\.\n$/,
    );
    assert.deepEqual(readdirSync(cwd), []);
  });
});
