import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dossierIn } from '../../../helpers/command.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

/** `dossier edit` with a shell script as the editor: "$1" is what it edits. */
const withEditor = async (t: TestContext) => {
  const planned = await withPlan(t);
  const script = join(temporaryDirectory(t), 'editor.sh');
  const env = { ...process.env, VISUAL: '', EDITOR: `sh ${script}` };
  const edit = (body: string, ...words: string[]) => {
    writeFileSync(script, body);
    const args = ['edit', 'make', ...words, '--workspace', planned.workspace];
    return dossierIn(t, { env }, args);
  };
  const { path } = await planned.dossier.call('GET /cases/{id}', { id: planned.at.id });
  return { ...planned, edit, file: (name: string) => join(planned.workspace, path, name) };
};

describe('dossier edit', () => {
  it('saves what was written: case.md, another file of the Work item, the plan of its session', async (t) => {
    const { edit, file, fileOf, dossier, at } = await withEditor(t);
    const titled = await edit(`sed 's/^title:.*/title: Renamed, make/' "$1" > x; mv x "$1"`);
    assert.deepEqual(
      [titled.code, titled.stdout],
      [0, `Saved ${file('case.md')}\n`],
      titled.stderr,
    );
    assert.equal((await dossier.call('GET /cases/{id}', { id: at.id })).title, 'Renamed, make');
    assert.equal((await edit('echo Note > "$1"', 'notes.md')).code, 0);
    assert.equal(readFileSync(file('notes.md'), 'utf8'), 'Note\n');
    assert.equal((await edit('echo More >> "$1"', 'plan.md')).code, 0);
    assert.match(readFileSync(await fileOf('plan.md'), 'utf8'), /More\n$/);
    const same = await edit('exit 0', '--json');
    assert.equal(JSON.parse(same.stdout).file, file('case.md'));
  });

  it('reports a file that cannot be read then, and keeps what was written where another wrote meanwhile', async (t) => {
    const { edit, file } = await withEditor(t);
    const good = readFileSync(file('case.md'), 'utf8');
    const broken = await edit(`printf -- '---\\ntitle: [\\n---\\n' > "$1"`);
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /^Saved .*\n.*case\.md:\d+: /);
    writeFileSync(file('case.md'), good);
    const raced = await edit(`echo mine >> "$1"; echo theirs >> '${file('case.md')}'`);
    assert.equal(raced.code, 1);
    const [, kept = ''] =
      /changed while you edited it.* kept in (\S+case\.md)/.exec(raced.stderr) ?? [];
    assert.match(readFileSync(kept, 'utf8'), /mine\n$/);
    assert.equal(readFileSync(file('case.md'), 'utf8'), `${good}theirs\n`);
    const above = await edit('exit 0', '../../../workspace.md');
    assert.deepEqual([above.code, above.stdout], [1, '']);
    assert.match(above.stderr, /is not in/);
  });
});
