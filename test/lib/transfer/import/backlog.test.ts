import assert from 'node:assert/strict';
import {
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import { casesOf, runImport as run, titled } from '../../../helpers/imported.ts';
import { temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { startForTest } from '../../../helpers/service.ts';

const CONFIG = `project_name: "My Project"
statuses: ["To Do", "In Progress", "Shipped"]
labels: []
task_prefix: "task"
`;

const BODY = `
## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
It does not let me in
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 works
- [x] #2 is tested
<!-- AC:END -->
`;

const task = (matter: string, body = BODY): string => `---\n${matter}\n---\n${body}`;

const LOGIN = task(`id: TASK-1
title: 'Fix: login is broken'
status: To Do
assignee: @me
created_date: '2026-03-01 08:39'
updated_date: '2026-03-02 10:00'
labels:
  - ui
  - bug
dependencies: [task-02]
priority: high
ordinal: 1000
due_date: 2026-05-01`);

const PROJECT = {
  'backlog/config.yml': CONFIG,
  'backlog/tasks/task-1 - Fix-login.md': LOGIN,
  'backlog/tasks/task-2 - Done.md': task(
    'id: TASK-2\ntitle: Done\nstatus: shipped\ncreated_date: 2026-03-01',
  ),
  'backlog/tasks/task-3 - Begun.md': task(
    'id: TASK-3\ntitle: Begun\nstatus: In Progress\nparent_task_id: TASK-1',
  ),
  'backlog/tasks/readme.md': '# No task\n',
  'backlog/completed/task-4 - Old.md': task(
    'id: TASK-4\ntitle: Old\nstatus: To Do\ncreated_date: 01/02/24',
  ),
  'backlog/archive/tasks/task-2 - Other.md': task('id: TASK-2\ntitle: Other\nstatus: To Do'),
  'backlog/archive/tasks/task-6 - Given-up.md': task(
    "id: TASK-6\ntitle: Given up\nstatus: Won't Do",
  ),
  'backlog/drafts/draft-1 - Idea.md': task(
    'id: DRAFT-1\ntitle: Idea\nstatus: Draft\ntype: enhancement',
    '',
  ),
};

const project = (t: TestContext, files: Record<string, string> = {}): string => {
  const dir = temporaryDirectory(t);
  writeFiles(dir, { ...PROJECT, ...files });
  return dir;
};

describe('import of a Backlog.md project', () => {
  it('makes a Work item of every task, and loses nothing of it', async (t) => {
    const workspace = temporaryDirectory(t);
    const { code, said } = await run(workspace, project(t));
    assert.equal(code, 0);
    assert.match(
      said,
      /project My Project in .*: 7 tasks\nImported 7 Work items into .*: 3 OPEN, 2 RESOLVED, 2 NON_ISSUE/,
    );
    const { path, data, body } = titled(workspace, 'Fix: login is broken');
    assert.match(path, /^cases\/2026-03\/fix-login-is-broken-[0-9a-f]{8}\/case\.md$/);
    assert.equal(body, BODY);
    const { id, backlog, ...rest } = data;
    assert.match(String(id), /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, {
      title: 'Fix: login is broken',
      type: 'bug',
      state: 'OPEN',
      outcome: null,
      created_at: '2026-03-01T08:39:00.000Z',
    });
    const { source_sha256, ...kept } = backlog as Record<string, unknown>;
    assert.match(String(source_sha256), /^[0-9a-f]{64}$/);
    assert.deepEqual(kept, {
      project: 'My Project',
      file: 'tasks/task-1 - Fix-login.md',
      work_items: { 'task-02': titled(workspace, 'Done').data.id },
      task: {
        id: 'TASK-1',
        title: 'Fix: login is broken',
        status: 'To Do',
        assignee: '@me',
        created_date: '2026-03-01 08:39',
        updated_date: '2026-03-02 10:00',
        labels: ['ui', 'bug'],
        dependencies: ['task-02'],
        priority: 'high',
        ordinal: 1000,
        due_date: '2026-05-01',
      },
    });
    assert.equal(statSync(join(workspace, path)).mtime.toISOString(), '2026-03-02T10:00:00.000Z');
  });

  it('lets nothing look planned or approved', async (t) => {
    const workspace = temporaryDirectory(t);
    await run(workspace, project(t));
    const states = casesOf(workspace).map(({ data }) => [
      data.title,
      data.type,
      data.state,
      data.outcome,
    ]);
    assert.deepEqual(states.toSorted(), [
      ['Begun', 'task', 'OPEN', null],
      ['Done', 'task', 'RESOLVED', 'resolved'],
      ['Fix: login is broken', 'bug', 'OPEN', null],
      ['Given up', 'task', 'NON_ISSUE', 'non_issue'],
      ['Idea', 'feature', 'OPEN', null],
      ['Old', 'task', 'RESOLVED', 'resolved'],
      ['Other', 'task', 'NON_ISSUE', 'non_issue'],
    ]);
    assert.equal(titled(workspace, 'Old').data.created_at, '2024-02-01T00:00:00.000Z');
    const names = readdirSync(join(workspace, 'cases'), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      names.filter((name) => /plan|session|proof/.test(name)),
      [],
    );
  });

  it('makes records that the daemon reads without a problem', async (t) => {
    const running = await startForTest(t);
    const { workspace } = running;
    await running.stop();
    await run(workspace, project(t));
    await running.restart();
    const { body } = await running.call<Case[]>('GET', '/cases');
    assert.equal(body.length, 7);
    assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
    const login = body.find(({ title }) => title.startsWith('Fix'));
    assert.equal(login?.updated_at, '2026-03-02T10:00:00.000Z');
    const { status } = await running.call('PUT', `/cases/${login?.id}`, { title: 'Other' });
    assert.equal(status, 200);
    assert.match(
      readFileSync(join(workspace, login?.path ?? '', 'case.md'), 'utf8'),
      /\n {4}due_date: 2026-05-01\n/,
    );
  });

  it('duplicates nothing when it is done again, and leaves alone what was changed', async (t) => {
    const [workspace, source] = [temporaryDirectory(t), project(t)];
    await run(workspace, source);
    assert.match(
      (await run(workspace, source)).said,
      /Imported 0 Work items.*\nAlready here: 7 Work items/,
    );
    const { path } = titled(workspace, 'Begun');
    const edited = readFileSync(join(workspace, path), 'utf8').replace(
      'state: OPEN',
      'state: BLOCKED',
    );
    writeFileSync(join(workspace, path), edited);
    renameSync(join(workspace, path, '..'), join(workspace, 'cases/moved'));
    writeFiles(source, {
      'backlog/tasks/task-1 - Fix-login.md': LOGIN.replace('To Do', 'Shipped'),
      'backlog/tasks/task-9 - New.md': task('id: TASK-9\ntitle: New'),
    });
    const { code, said } = await run(workspace, source);
    assert.equal(code, 0);
    assert.match(said, /Imported 1 Work item into .*: 1 OPEN\nAlready here: 5 Work items/);
    assert.match(said, /changed here since; kept as they are:\n {2}tasks\/task-3 - Begun\.md/);
    assert.match(
      said,
      /changed in Backlog\.md since; kept as they are:\n {2}tasks\/task-1 - Fix-login\.md/,
    );
    assert.equal(readFileSync(join(workspace, 'cases/moved/case.md'), 'utf8'), edited);
    assert.equal(titled(workspace, 'Fix: login is broken').data.state, 'OPEN');
    assert.equal(casesOf(workspace).length, 8);
  });

  it('keeps the id of a task that was padded, given another prefix, or completed', async (t) => {
    const [workspace, source] = [temporaryDirectory(t), project(t)];
    await run(workspace, source);
    const { 'backlog/tasks/task-1 - Fix-login.md': text } = PROJECT;
    const moved = temporaryDirectory(t);
    writeFiles(moved, {
      'backlog/config.yml': CONFIG,
      'backlog/completed/back-001 - Fix-login.md': text.replace('TASK-1', 'BACK-001'),
    });
    assert.match((await run(workspace, moved)).said, /Imported 0 Work items/);
  });

  it('tells tasks that cannot be read, with line and column, and brings in the others', async (t) => {
    const workspace = temporaryDirectory(t);
    const source = project(t, {
      'backlog/tasks/task-10 - Yaml.md': '---\nid: TASK-10\ntitle: "open\n---\n',
      'backlog/tasks/task-11 - Merge.md': task(
        'id: TASK-11\ntitle: M',
        '\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n',
      ),
      'backlog/tasks/task-12 - None.md': '# Just text\n',
    });
    symlinkSync('/etc/passwd', join(source, 'backlog/tasks/task-14 - Link.md'));
    const { code, said } = await run(workspace, source);
    assert.equal(code, 1);
    assert.match(said, /: 11 tasks\nImported 7 Work items/);
    assert.match(said, /\n {2}tasks\/task-10 - Yaml\.md:\d+:\d+: /);
    assert.match(said, /\n {2}tasks\/task-11 - Merge\.md:6:1: An unresolved merge conflict starts/);
    assert.match(said, /\n {2}tasks\/task-12 - None\.md:1:1: /);
    assert.match(said, /\n {2}tasks\/task-14 - Link\.md: This is a link/);
    assert.equal(casesOf(workspace).length, 7);
  });

  it('cuts what is too long and keeps the whole of it', async (t) => {
    const workspace = temporaryDirectory(t);
    const title = `${'Long '.repeat(50)}\u{1F600}`;
    const body = `\n${'A line of text\n'.repeat(30_000)}`;
    const notes = 'x'.repeat(65_400);
    const source = project(t, {
      'backlog/tasks/task-20 - Long.md': task(`id: TASK-20\ntitle: "${title}"`, 'Body\n'),
      'backlog/tasks/task-21 - Big.md': task('id: TASK-21\ntitle: Big', body),
      'backlog/tasks/task-22 - Much.md': task(`id: TASK-22\ntitle: Much\nnotes: ${notes}`),
    });
    assert.equal((await run(workspace, source)).code, 0);
    const long = casesOf(workspace).find(({ data }) => String(data.title).startsWith('Long'));
    assert.ok([...String(long?.data.title)].length <= 200);
    assert.equal(long?.body, `\nTitle: ${title}\n\nBody\n`);
    const big = titled(workspace, 'Big');
    assert.ok(big.body.length <= 262_144);
    assert.match(big.body, /the whole text is in memory\/backlog-task\.md\.\n$/);
    const whole = join(workspace, big.path, '../memory/backlog-task.md');
    assert.equal(`\n${readFileSync(whole, 'utf8')}\n`, body);
    const much = join(workspace, titled(workspace, 'Much').path, '../memory/backlog-task.json');
    assert.equal(JSON.parse(readFileSync(much, 'utf8')).task.notes, notes);
  });

  it('reads what people write: names unquoted, other line ends, dates of many kinds', async (t) => {
    const workspace = temporaryDirectory(t);
    const at = (number: number, matter: string) => ({
      [`backlog/tasks/task-${number} - X.md`]: task(
        `id: TASK-${number}\ntitle: T${number}\n${matter}`,
      ),
    });
    const source = project(t, {
      ...at(30, 'assignee: [@a, "@b", c]\nreporter: @d # who\ncreated_date: 2026-03-01T08:00'),
      ...at(31, 'assignee:\n  - @a\n  - b\ncreated_date: 2026-03-01T10:00:30+02:00'),
      ...at(32, 'labels: enhancement\ntype: Chore\ncreated_date: 02-03-26'),
      ...at(33, 'created_date: yesterday'),
      'backlog/completed/task-35 - X.md': task("id: TASK-35\ntitle: T35\nstatus: Won't Do"),
      'backlog/tasks/task-34 - No title.md': '---\r\nid: TASK-34\r\n---\r\n\r\nOne\r\nTwo\r\n',
    });
    assert.equal((await run(workspace, source)).code, 0);
    const of = (title: string) => titled(workspace, title).data;
    const taskOf = (title: string) => (of(title).backlog as { task: Record<string, unknown> }).task;
    assert.deepEqual(taskOf('T30').assignee, ['@a', '@b', 'c']);
    assert.equal(taskOf('T30').reporter, '@d');
    assert.equal(of('T30').created_at, '2026-03-01T08:00:00.000Z');
    assert.deepEqual(taskOf('T31').assignee, ['@a', 'b']);
    assert.equal(of('T31').created_at, '2026-03-01T08:00:30.000Z');
    assert.equal(of('T32').created_at, '2026-03-02T00:00:00.000Z');
    assert.equal(of('T32').type, 'chore');
    assert.equal(of('T35').state, 'NON_ISSUE');
    // `mtime` is rounded, which may be the next millisecond.
    const { mtimeMs } = statSync(join(source, 'backlog/tasks/task-33 - X.md'));
    assert.equal(of('T33').created_at, new Date(mtimeMs).toISOString());
    assert.equal(titled(workspace, 'task-34 - No title').body, '\nOne\nTwo\n');
  });

  it('is found by its folder, by a hidden one, and by a settings file beside it', async (t) => {
    const tasks = { 'tasks/task-1 - A.md': task('id: TASK-1\ntitle: A') };
    const below = (dir: string, files: Record<string, string>) =>
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}${name}`, text]));
    for (const files of [
      below('', { ...tasks, 'config.yml': CONFIG }),
      below('.backlog/', { ...tasks, 'config.yaml': CONFIG }),
      { ...below('plan/', tasks), 'backlog.config.yml': `${CONFIG}backlog_directory: plan\n` },
      { ...below('backlog/', tasks), 'backlog.config.yml': CONFIG },
    ]) {
      const dir = temporaryDirectory(t);
      writeFiles(dir, files);
      assert.match((await run(temporaryDirectory(t), dir)).said, /My Project .*: 1 task\n/);
    }
  });

  it('says where the settings of the project are wrong', async (t) => {
    const source = project(t, { 'backlog/config.yml': 'a: [\n' });
    await assert.rejects(run(temporaryDirectory(t), source), /The import cannot be read/);
  });

  it('writes nothing with --dry-run', async (t) => {
    const workspace = temporaryDirectory(t);
    const { code, said } = await run(workspace, project(t), '--dry-run');
    assert.equal(code, 0);
    assert.match(said, /Would import 7 Work items.*\nNothing was written/);
    assert.deepEqual(readdirSync(workspace), []);
  });
});
