import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import { PROJECT } from '../../../examples/run.ts';
import { killAtEnd } from '../../../helpers/at-end.ts';
import { dossier } from '../../../helpers/command.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { casesOf, runImport, titled } from '../../../helpers/imported.ts';
import { temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { startForTest } from '../../../helpers/service.ts';
import { filesOf } from '../../../helpers/workspace.ts';

/** Why a test with a database is skipped; in CI it fails instead. */
const noDatabase =
  process.env.CI !== 'true' &&
  spawnSync('sqlite3', ['-version']).error !== undefined &&
  'sqlite3 is not installed';

const SOURCES = join(PROJECT, 'test/lib/transfer/import/sources');

/** A source of this tool, as the tool itself leaves it. */
const sourceOf = (t: TestContext, tool: string): string => {
  const dir = join(temporaryDirectory(t), 'shop');
  cpSync(join(SOURCES, tool), dir, { recursive: true });
  if (tool === 'vibe') makeDatabase(join(dir, 'db.v2.sqlite'));
  return dir;
};

const makeDatabase = (path: string, more = ''): void => {
  const input = readFileSync(join(SOURCES, 'vibe/db.sql'), 'utf8') + more;
  rmSync(path, { force: true });
  execFileSync('sqlite3', ['-bail', path], { input });
};

type Row = [title: string, type: string, state: string, created: string];

const OF_EACH: Record<string, { told: RegExp; rows: Row[] }> = {
  beads: {
    told: /^beads project shop in .*\/\.beads\/issues\.jsonl: 4 tasks\n(?:.*\n)*Not imported: 1 of its memories, 1 deleted\n/,
    rows: [
      ['Basket forgets what is in it', 'bug', 'OPEN', '2026-03-01T13:39:12.123Z'],
      ['Sessions are stored', 'feature', 'RESOLVED', '2026-02-01T08:00:00.000Z'],
      ['Store them twice', 'task', 'NON_ISSUE', '2026-02-01T09:00:00.000Z'],
      ['Wait for the bank', 'chore', 'BLOCKED', '2026-03-03T08:00:00.000Z'],
    ],
  },
  veritas: {
    told: /^veritas-kanban project shop in .*\/tasks: 5 tasks\n/,
    rows: [
      ['Basket forgets', 'bug', 'OPEN', '2026-03-01T08:39:12.123Z'],
      ['Later', 'feature', 'OPEN', '2026-03-03T08:00:00.000Z'],
      ['Sessions are stored', 'feature', 'RESOLVED', '2026-02-01T08:00:00.000Z'],
      ['Store them twice', 'code', 'NON_ISSUE', '2026-02-02T08:00:00.000Z'],
      ['Wait for the bank', 'code', 'BLOCKED', '2026-03-02T08:00:00.000Z'],
    ],
  },
  cline: {
    told: /^Cline Kanban project workspaces in .*\/workspaces: 4 tasks\n/,
    rows: [
      ['Basket forgets what is in it', 'task', 'OPEN', '2026-03-01T08:39:12.123Z'],
      ['Spell it right', 'task', 'OPEN', '2026-03-01T08:00:00.000Z'],
      ['Store sessions', 'task', 'OPEN', '2026-03-01T08:00:00.000Z'],
      ['Store them twice', 'task', 'NON_ISSUE', '2026-02-01T08:00:00.000Z'],
    ],
  },
  vibe: {
    told: /^vibe-kanban project shop in .*\/db\.v2\.sqlite: 4 tasks\n/,
    rows: [
      ['Basket forgets', 'task', 'OPEN', '2026-03-01T08:39:12.123Z'],
      ['Look at it', 'task', 'OPEN', '2026-03-04T08:00:00.000Z'],
      ['Sessions are stored', 'task', 'RESOLVED', '2026-02-01T08:00:00.000Z'],
      ['Store them twice', 'task', 'NON_ISSUE', '2026-02-02T08:00:00.000Z'],
    ],
  },
};

const rowsOf = (workspace: string): unknown[] =>
  casesOf(workspace)
    .map(({ data }) => [data.title, data.type, data.state, data.created_at])
    .toSorted();

for (const [tool, { told, rows }] of Object.entries(OF_EACH)) {
  describe(`import of ${tool}`, { skip: tool === 'vibe' && noDatabase }, () => {
    it('makes a Work item of every task, which the daemon reads without a problem', async (t) => {
      const running = await startForTest(t);
      const { workspace } = running;
      await running.stop();
      const { code, said } = await runImport(workspace, sourceOf(t, tool));
      assert.equal(code, 0, said);
      assert.match(said, told);
      assert.deepEqual(rowsOf(workspace), rows);
      await running.restart();
      assert.equal((await running.call<Case[]>('GET', '/cases')).body.length, rows.length);
      assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
    });

    it('makes nothing twice, wherever the source lies, and leaves it as it is', async (t) => {
      const [workspace, source] = [temporaryDirectory(t), sourceOf(t, tool)];
      const before = readBytes(source);
      const tried = await runImport(workspace, source, '--dry-run');
      assert.match(tried.said, /Would import \d Work items.*\n(?:.*\n)*Nothing was written/);
      assert.deepEqual(readdirSync(workspace), []);
      await runImport(workspace, source);
      const made = [...filesOf(workspace)];
      const elsewhere = join(temporaryDirectory(t), 'shop');
      cpSync(source, elsewhere, { recursive: true });
      const again = await runImport(workspace, elsewhere);
      assert.match(again.said, new RegExp(`Imported 0 Work items.*\nAlready here: ${rows.length}`));
      assert.deepEqual([...filesOf(workspace)], made);
      assert.deepEqual(readBytes(source), before);
    });
  });
}

const readBytes = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name), 'base64')}`)
    .toSorted();

describe('what is kept of a task', () => {
  it('is all that beads says: texts as sections, the rest below its key', async (t) => {
    const workspace = temporaryDirectory(t);
    await runImport(workspace, sourceOf(t, 'beads'));
    const { data, body } = titled(workspace, 'Basket forgets what is in it');
    assert.equal(
      body,
      '\nReload the page: it is empty.\n\n## Design\n\nKeep it in the session.\n\n## Acceptance criteria\n\n- it is there after a reload\n\n## Notes\n\nSeen by two people.\n\n## Comments\n\nbob, 2026-03-01T12:00:00Z:\n\nAlso in Firefox.\n',
    );
    const { task, work_items } = data.beads as {
      task: Record<string, unknown>;
      work_items: object;
    };
    assert.equal(task.id, 'shop-a3f');
    assert.equal(task.external_ref, 'gh-9');
    assert.deepEqual(work_items, { 'shop-b71': titled(workspace, 'Sessions are stored').data.id });
  });

  it('is all that Cline Kanban says, with the images and the links of a card', async (t) => {
    const workspace = temporaryDirectory(t);
    await runImport(workspace, sourceOf(t, 'cline'));
    const { data, body } = titled(workspace, 'Basket forgets what is in it');
    assert.equal(body, '\nBasket forgets what is in it\n\nReload the page: it is empty.\n');
    const { task, work_items, file } = data.cline as Record<string, Record<string, unknown>>;
    assert.equal(file, 'shop/board.json backlog[0]');
    assert.equal(task?.column, 'backlog');
    assert.equal((task as { images: { data: string }[] }).images[0]?.data, 'iVBORw0KGgo=');
    assert.deepEqual(work_items, { b7120: titled(workspace, 'Store sessions').data.id });
  });

  it('is the project of a task of vibe-kanban, and the one that it came from', {
    skip: noDatabase,
  }, async (t) => {
    const workspace = temporaryDirectory(t);
    await runImport(workspace, sourceOf(t, 'vibe'));
    const { data } = titled(workspace, 'Basket forgets');
    const { task, work_items } = data.vibe as Record<string, Record<string, unknown>>;
    assert.equal(task?.project, 'Shop');
    assert.deepEqual(Object.values(work_items ?? {}), [
      titled(workspace, 'Sessions are stored').data.id,
    ]);
  });

  it('is the whole front matter of veritas-kanban', async (t) => {
    const workspace = temporaryDirectory(t);
    await runImport(workspace, sourceOf(t, 'veritas'));
    const { data, body } = titled(workspace, 'Basket forgets');
    assert.match(body, /## Review Comments\n\n- \*\*basket\.ts:3\*\* - Name it\n$/);
    const { task, work_items } = data.veritas as Record<string, Record<string, unknown>>;
    assert.deepEqual(task?.git, { repo: 'shop', branch: 'fix/basket', baseBranch: 'main' });
    assert.deepEqual(Object.values(work_items ?? {}), [
      titled(workspace, 'Wait for the bank').data.id,
    ]);
  });
});

const line = (id: string, more: object): string =>
  JSON.stringify({ id, title: id, status: 'open', created_at: '2026-01-01T00:00:00Z', ...more });

describe('hostile texts', () => {
  it('of beads are told by line, or made harmless, and the others come in', async (t) => {
    const source = temporaryDirectory(t);
    const deep = `{"id":"x-9","title":"Deep","created_at":"2026-01-01","metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const lines = [
      line('x-1', { title: 'Right\u202Eto\u0000left\nand on', description: 'a\u0000b\uD800' }),
      '{"id":"x-2","title":"open',
      '["x-3"]',
      line('x-4', { description: '<<<<<<< a\n\n=======\n\n>>>>>>> b\n' }),
      line('x-1', { title: 'Again' }),
      line('x-6', { created_at: '0001-01-01T00:00:00Z' }),
      JSON.stringify({ title: 'No id' }),
      `{"id":"x-8","title":"Proto","created_at":"2026-01-01","__proto__":{"a":1}}`,
      deep,
      line('x-10', { metadata: 'y'.repeat(100_000), description: 'z'.repeat(1_500_000) }),
      '',
    ];
    writeFiles(source, { '.beads/issues.jsonl': lines.join('\n') });
    writeFileSync(join(source, '.beads/issues.jsonl'), Buffer.from('\xff\xfe\n', 'latin1'), {
      flag: 'a',
    });
    const running = await startForTest(t);
    const { workspace } = running;
    await running.stop();
    const { code, said } = await runImport(workspace, source);
    assert.equal(code, 1);
    for (const told of [
      /\n {2}issues\.jsonl:2:26: From here on this is not JSON/,
      /\n {2}issues\.jsonl:3:1: There is no JSON object here/,
      /\n {2}issues\.jsonl:5: This has the same id as issues\.jsonl:1/,
      /\n {2}issues\.jsonl:6: beads wrote no time for this task/,
      /\n {2}issues\.jsonl:7: This is not an issue: it has no id/,
      /\n {2}issues\.jsonl:9: This is nested too deeply/,
      /\n {2}issues\.jsonl:11:1: This is not UTF-8/,
    ])
      assert.match(said, told);
    assert.deepEqual(
      casesOf(workspace)
        .map(({ data }) => data.title)
        .toSorted(),
      ['Proto', 'Right⟦U+202E⟧to left and on', 'x-10', 'x-4'],
    );
    assert.match(titled(workspace, 'Right⟦U+202E⟧to left and on').body, /^\na␀b\uFFFD\n$/);
    const home = dirname(titled(workspace, 'x-10').path);
    const kept = readFileSync(join(workspace, home, 'memory/beads-task.json'), 'utf8');
    assert.equal(JSON.parse(kept).task.metadata.length, 100_000);
    await running.restart();
    assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
  });

  it('have their whole text beside the memory files where it is too long for one', async (t) => {
    const [source, workspace] = [temporaryDirectory(t), temporaryDirectory(t)];
    // In bytes: the letter has two.
    for (const [id, length] of Object.entries({ 'x-1': 524_288, 'x-2': 524_289 })) {
      const issue = { id, title: id, created_at: '2026-01-01', description: 'é'.repeat(length) };
      writeFiles(source, { '.beads/issues.jsonl': JSON.stringify(issue) });
      assert.equal((await runImport(workspace, source)).code, 0);
    }
    const memoryOf = (id: string) => join(workspace, dirname(titled(workspace, id).path), 'memory');
    const [one, two] = [memoryOf('x-1'), memoryOf('x-2')];
    assert.deepEqual([readdirSync(one), readdirSync(two)], [['beads-task.md'], ['beads-task.txt']]);
    assert.equal(readFileSync(join(two, 'beads-task.txt'), 'utf8'), 'é'.repeat(524_289));
    assert.match(
      titled(workspace, 'x-2').body,
      /the whole text is in memory\/beads-task\.txt\.\n$/,
    );
    const checked = await dossier(t, 'check', '--workspace', workspace);
    assert.equal(checked.code, 0, checked.stdout);
  });

  it('of Cline Kanban are told by card, and the other boards come in', async (t) => {
    const source = sourceOf(t, 'cline');
    const path = join(source, 'workspaces/shop/board.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"prompt": "Store sessions"', '"p": 1'));
    mkdirSync(join(source, 'workspaces/broken'));
    writeFileSync(join(source, 'workspaces/broken/board.json'), '{\n  "columns": [,]\n}');
    const { code, said } = await runImport(temporaryDirectory(t), source);
    assert.equal(code, 1);
    assert.match(said, /Imported 3 Work items/);
    assert.match(said, /\n {2}broken\/board\.json:1:1: This is not JSON/);
    assert.match(said, /\n {2}shop\/board\.json in_progress\[0\]: This is not a card/);
  });

  it('of veritas-kanban are told with line and column', async (t) => {
    const source = sourceOf(t, 'veritas');
    writeFiles(source, { 'tasks/active/task_9-bad.md': '---\ntitle: "open\n---\n' });
    const { code, said } = await runImport(temporaryDirectory(t), source);
    assert.equal(code, 1);
    assert.match(said, /Imported 5 Work items(?:.|\n)*active\/task_9-bad\.md:\d+:\d+: /);
  });

  it('of one board are found by the name of its file, too', async (t) => {
    const source = sourceOf(t, 'cline');
    const { said } = await runImport(
      temporaryDirectory(t),
      join(source, 'workspaces/shop/board.json'),
    );
    assert.match(said, /^Cline Kanban project /);
  });

  it('of veritas-kanban by another name are told: they stay', async (t) => {
    const source = sourceOf(t, 'veritas');
    writeFiles(source, { 'tasks/active/idea.md': '---\ntitle: Idea\n---\n' });
    const { said } = await runImport(temporaryDirectory(t), source);
    assert.match(said, /^Not imported: active\/idea\.md \(no task_\*\.md\)$/m);
  });
});

const inEnvironment = (t: TestContext, name: string, value: string): void => {
  const before = process.env[name];
  process.env[name] = value;
  t.after(() => {
    process.env[name] = before;
  });
};

describe('the SQLite file of vibe-kanban', { skip: noDatabase }, () => {
  it('is read while vibe-kanban has it locked', async (t) => {
    const source = sourceOf(t, 'vibe');
    const holder = spawn('sqlite3', [join(source, 'db.v2.sqlite')]);
    killAtEnd(t, holder);
    holder.stdin.write("BEGIN EXCLUSIVE;\nUPDATE tasks SET title = 'Not yet';\nSELECT 'held';\n");
    await once(holder.stdout, 'data');
    const workspace = temporaryDirectory(t);
    const { code, said } = await runImport(workspace, source);
    assert.equal(code, 0, said);
    assert.deepEqual(rowsOf(workspace), OF_EACH.vibe?.rows);
  });

  it('is read with what stands in its log alone, and no file is made beside it', async (t) => {
    const source = sourceOf(t, 'vibe');
    const holder = spawn('sqlite3', [join(source, 'db.v2.sqlite')]);
    killAtEnd(t, holder);
    holder.stdin.write(
      "PRAGMA journal_mode=WAL;\nUPDATE tasks SET title = 'In the log' WHERE title = 'Look at it';\nSELECT 'done';\n",
    );
    let heard = '';
    holder.stdout.on('data', (chunk) => {
      heard += chunk;
    });
    await eventually(() => assert.match(heard, /done/));
    const before = readdirSync(source);
    const workspace = temporaryDirectory(t);
    const { code, said } = await runImport(workspace, source);
    assert.equal(code, 0, said);
    titled(workspace, 'In the log');
    assert.deepEqual(readdirSync(source), before);
  });

  it('runs nothing of what a hostile one holds', async (t) => {
    const source = sourceOf(t, 'vibe');
    const mark = join(source, 'written');
    makeDatabase(
      join(source, 'db.v2.sqlite'),
      `DROP TABLE workspaces; ALTER TABLE tasks RENAME TO real;
CREATE VIEW tasks AS SELECT *, writefile('${mark}', 'x') AS evil FROM real;`,
    );
    await assert.rejects(runImport(temporaryDirectory(t), source), /it has no tasks\.id/);
    assert.equal(readdirSync(source).includes('written'), false);
  });

  it('is read without what the operator has set for sqlite3', async (t) => {
    const [home, workspace] = [temporaryDirectory(t), temporaryDirectory(t)];
    writeFiles(home, { '.sqliterc': '.mode box\n' });
    inEnvironment(t, 'HOME', home);
    await runImport(workspace, sourceOf(t, 'vibe'));
    assert.equal(casesOf(workspace).length, 4);
  });

  it('is refused with what to install where there is no sqlite3', async (t) => {
    const source = sourceOf(t, 'vibe');
    inEnvironment(t, 'PATH', temporaryDirectory(t));
    const tried = runImport(temporaryDirectory(t), source);
    await assert.rejects(
      tried,
      /there is no sqlite3 on the PATH\. Install it \(apt install sqlite3/,
    );
  });

  it('is refused where it is of another program', async (t) => {
    const path = join(temporaryDirectory(t), 'other.db');
    execFileSync('sqlite3', [path, 'CREATE TABLE a (b)']);
    await assert.rejects(runImport(temporaryDirectory(t), path), /not a file of vibe-kanban/);
  });
});

describe('a directory with the tasks of two tools', () => {
  it('is refused, and each can be named', async (t) => {
    const source = sourceOf(t, 'beads');
    cpSync(join(SOURCES, 'veritas'), source, { recursive: true });
    const workspace = temporaryDirectory(t);
    await assert.rejects(
      runImport(workspace, source),
      /has tasks of several tools\. Name one: .*\/\.beads\/issues\.jsonl \(beads\), .*\/tasks \(veritas-kanban\)\./,
    );
    assert.equal([...filesOf(workspace)].length, 0);
    for (const each of ['.beads/issues.jsonl', '.beads', 'tasks'])
      assert.equal((await runImport(workspace, join(source, each))).code, 0);
    assert.equal(casesOf(workspace).length, 9);
  });
});
