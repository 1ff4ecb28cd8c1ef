/** Sessions of agents, worktrees and branches that began without Dossier, and become Work items. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Adoptable, Adopted, SessionToAdopt } from '../../store/records/adoption.ts';
import type { Case } from '../../store/records/case.ts';
import { putConversations, SESSIONS, transcriptOf } from '../helpers/conversations.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { startForTest } from '../helpers/service.ts';

const FILES = { 'greet.sh': 'echo hello\n', '.gitignore': 'ignored\n' };

const start = async (t: TestContext, settings = 'provider: runbook') => {
  const home = temporaryDirectory(t);
  const running = await startForTest(t, { env: { HOME: home }, files: FILES, settings });
  const { root, git } = running.repository;
  putConversations(home, root);
  const { call } = running;
  const list = async () => (await call<Adoptable>('GET', '/api/adoptable')).body;
  const read = async (id: string, agent = 'claude') =>
    (await call<SessionToAdopt>('GET', `/api/adoptable/sessions/${agent}/${id}`)).body;
  const adopt = (body: object) => call<Adopted & { detail: string }>('POST', '/api/adopt', body);
  const session = async (id: string, more: object = {}) => {
    const { summary, description } = await read(id);
    return adopt({ description, session: { agent: 'claude', id, summary, ...more } });
  };
  const titles = async () => (await call<Case[]>('GET', '/cases')).body.map(({ title }) => title);
  return { ...running, home, root, git, list, read, adopt, session, titles };
};

const commit = (directory: string, name: string): void => {
  writeFileSync(join(directory, name), name);
  gitIn(directory)('add', name);
  gitIn(directory)('commit', '--quiet', '-m', `Add ${name}`);
};

/** A branch with a commit that the base does not have. */
const branchOff = (directory: string, branch: string): void => {
  const git = gitIn(directory);
  git('switch', '--quiet', '--create', branch);
  commit(directory, `${branch}.txt`);
  git('switch', '--quiet', 'main');
};

describe('GET /api/adoptable', () => {
  it("lists this repository's sessions, worktrees and unmerged branches, newest sessions first", async (t) => {
    const { home, root, git, list } = await start(t);
    branchOff(root, 'topic');
    git('branch', "ü/o'x", 'topic');
    git('branch', 'merged');
    const stray = join(temporaryDirectory(t), 'stray');
    git('worktree', 'add', '--quiet', '-b', 'mine', stray);
    commit(stray, 'begun.txt');
    git('worktree', 'add', '--quiet', '--detach', `${stray}-detached`);
    // Of another directory, and of one whose name only looks the same.
    const other = temporaryDirectory(t);
    putConversations(join(home, 'elsewhere'), other);
    const folder = join(home, '.claude/projects', `${root.replaceAll(/[^A-Za-z0-9]/g, '-')}-x`);
    const alien = '00000000-0000-4000-8000-000000000000';
    writeFiles(folder, { [`${alien}.jsonl`]: transcriptOf('planned', other) });
    const { sessions, worktrees, branches, ...rest } = await list();
    assert.deepEqual(rest, { project: 'default', repository: root });
    assert.deepEqual(
      sessions.map(({ agent, id, title, directory, branch, case_id }) => [
        ...[agent, id, title, directory, branch, case_id],
      ]),
      [
        ['codex', SESSIONS.codex, 'Count the words of greet.sh', root, 'main', null],
        ['claude', SESSIONS.worked, 'Say goodbye, too', root, 'main', null],
        ['claude', SESSIONS.planned, 'Greet by name, not only the world', root, 'main', null],
      ],
    );
    assert.deepEqual(
      worktrees.map(({ path, branch, commits, subject }) => [path, branch, commits, subject]),
      [[stray, 'mine', 1, 'Add begun.txt']],
    );
    assert.deepEqual(
      branches.map(({ name, commits, subject }) => [name, commits, subject]),
      [
        ['topic', 1, 'Add topic.txt'],
        ["ü/o'x", 1, 'Add topic.txt'],
      ],
    );
  });

  it('lists none of its own: neither their worktrees and branches nor sessions in them', async (t) => {
    const { call, home, list } = await start(t);
    const { body } = await call<Case>('POST', '/cases', { title: 'Own', type: 'bug' });
    const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: body.id });
    commit(made.body.path, 'own.txt');
    putConversations(home, made.body.path);
    const { sessions, worktrees, branches } = await list();
    assert.deepEqual([sessions.filter(({ agent }) => agent === 'codex'), worktrees], [[], []]);
    assert.deepEqual(branches, []);
  });

  it('lists no session in a home without agents, or whose transcripts cannot be read', async (t) => {
    const { home, root, list } = await start(t);
    const folder = join(home, '.claude/projects', root.replaceAll(/[^A-Za-z0-9]/g, '-'));
    const ids = ['1', '2', '3'].map((n) => `${n}0000000-0000-4000-8000-000000000000`);
    writeFiles(folder, { [`${ids[0]}.jsonl`]: Buffer.from([0xff, 0xfe, 0]) });
    symlinkSync('/dev/zero', join(folder, `${ids[1]}.jsonl`));
    symlinkSync('nowhere', join(folder, `${ids[2]}.jsonl`));
    assert.equal((await list()).sessions.length, 3);
    rmSync(join(home, '.claude'), { recursive: true });
    rmSync(join(home, '.codex'), { recursive: true });
    assert.deepEqual((await list()).sessions, []);
  });

  it('goes by where a session really was, and copies from no other repository', async (t) => {
    const { home, root, list, read } = await start(t);
    const folder = join(home, '.claude/projects', root.replaceAll(/[^A-Za-z0-9]/g, '-'));
    const nested = join(root, 'nested');
    mkdirSync(nested);
    gitIn(nested)('init', '--quiet');
    writeFiles(nested, { 'open.txt': 'x' });
    const id = (n: number) => `${n}0000000-0000-4000-8000-000000000000`;
    for (const [n, at] of [`${root}/../elsewhere`, 'relative', nested].entries())
      writeFiles(folder, { [`${id(n)}.jsonl`]: transcriptOf('planned', at) });
    const ids = (await list()).sessions.map((one) => one.id);
    assert.deepEqual([ids.length, ids.includes(id(0)), ids.includes(id(1))], [4, false, false]);
    assert.equal((await read(id(2))).uncommitted, 0);
  });

  it('is 422 without a repository', async (t) => {
    const { call } = await start(t);
    const { status, body } = await call('GET', '/api/adoptable?project=nowhere');
    assert.deepEqual([status, body.code], [422, 'no_repository']);
  });
});

describe('GET /api/adoptable/sessions/{agent}/{id}', () => {
  it('proposes a memory in which what others wrote is quoted, and shows what is hidden', async (t) => {
    const { home, root, read } = await start(t);
    const hidden = transcriptOf('planned', root).replace(
      'The plan is ready.',
      'Ready\\u202e\\u0007',
    );
    const folder = root.replaceAll(/[^A-Za-z0-9]/g, '-');
    writeFiles(join(home, '.claude/projects', folder), { [`${SESSIONS.planned}.jsonl`]: hidden });
    const { summary, plan, uncommitted } = await read(SESSIONS.planned);
    assert.match(summary, /^# What came before\n\nFrom a session of Claude Code in `/);
    assert.match(summary, /## What the operator said\n\n> Greet by name, not only the world\n/);
    assert.match(summary, /not approved\)\n\n> # Greet by name\n>\n> 1\. Let/);
    assert.match(summary, /> Ready⟦U\+202E⟧␇\n/);
    assert.match(plan ?? '', /^# Greet by name\n/);
    assert.equal(uncommitted, 0);
  });

  it('is 404 for a session of another repository, and 413 for a transcript over 64 MiB', async (t) => {
    const { call, home, root } = await start(t);
    const at = (id: string) => call('GET', `/api/adoptable/sessions/claude/${id}`);
    const missing = await at(SESSIONS.codex);
    assert.deepEqual([missing.status, missing.body.code], [404, 'not_found']);
    const folder = join(home, '.claude/projects', root.replaceAll(/[^A-Za-z0-9]/g, '-'));
    const text = transcriptOf('planned', root);
    writeFileSync(join(folder, `${SESSIONS.planned}.jsonl`), text + ' '.repeat(64 * 1024 * 1024));
    const large = await at(SESSIONS.planned);
    assert.deepEqual([large.status, large.body.code], [413, 'too_large']);
  });
});

describe('POST /api/adopt', () => {
  it('makes a Work item of a session, and copies the uncommitted files, which stay where they are', async (t) => {
    const { workspace, home, root, git, call, list, session } = await start(t);
    writeFiles(root, {
      'greet.sh': 'echo changed\n',
      'new.bin': Buffer.from([0, 1]),
      ignored: 'x',
    });
    writeFiles(root, { 'staged.txt': 'staged\n' });
    git('add', 'staged.txt');
    chmodSync(join(root, 'greet.sh'), 0o755);
    const before = [git('status', '--porcelain=v2'), git('diff', '--cached'), git('stash', 'list')];
    const { status, body, headers } = await session(SESSIONS.planned);
    assert.equal(status, 201, body.detail);
    assert.equal(headers.location, `/cases/${body.case_id}`);
    const after = [git('status', '--porcelain=v2'), git('diff', '--cached'), git('stash', 'list')];
    assert.deepEqual(after, before);
    assert.equal(git('for-each-ref', 'refs/dossier'), '');
    const tree = body.worktree?.path ?? '';
    assert.deepEqual([body.copied, body.worktree?.base], [3, 'main']);
    assert.equal(gitIn(tree)('status', '--porcelain'), ' M greet.sh\nA  staged.txt\n?? new.bin\n');
    assert.deepEqual(readFileSync(join(tree, 'new.bin')), Buffer.from([0, 1]));
    assert.equal(statSync(join(tree, 'greet.sh')).mode & 0o111, 0o111);
    assert.equal(existsSync(join(tree, 'ignored')), false);
    const { body: item } = await call<Case>('GET', `/cases/${body.case_id}`);
    const said = 'Greet by name, not only the world';
    assert.deepEqual([item.title, item.description, item.state], [said, said, 'OPEN']);
    const memory = await call('GET', `/cases/${item.id}/memory/adopted.md`);
    assert.match(memory.text, /not approved\)/);
    // Nothing is approved by it, and no session is there.
    assert.deepEqual((await call('GET', `/cases/${item.id}/sessions`)).body, []);
    const kept = join(workspace, body.transcript ?? '');
    assert.equal(readFileSync(kept, 'utf8'), transcriptOf('planned', root));
    assert.deepEqual(
      [statSync(kept).mode & 0o777, body.transcript?.split('/')[0]],
      [0o600, '.dossier'],
    );
    const [known] = (await list()).sessions.filter(({ id }) => id === SESSIONS.planned);
    assert.equal(known?.case_id, item.id);
    assert.ok(existsSync(join(home, '.claude')));
  });

  it('takes a session once, and again when its Work item is deleted', async (t) => {
    const { call, session, titles } = await start(t);
    const { body: first } = await session(SESSIONS.worked);
    const again = await session(SESSIONS.worked);
    assert.deepEqual(
      [again.status, (again.body as never as { code: string }).code],
      [409, 'already_exists'],
    );
    assert.equal((await call('DELETE', `/cases/${first.case_id}`)).status, 204);
    assert.equal((await session(SESSIONS.worked, { copy_changes: false })).status, 201);
    assert.deepEqual(await titles(), ['Say goodbye, too']);
  });

  it('makes one Work item of a session that two ask for at once', async (t) => {
    const { session, titles } = await start(t);
    const all = await Promise.all([session(SESSIONS.planned), session(SESSIONS.planned)]);
    assert.deepEqual(all.map(({ status }) => status).toSorted(), [201, 409]);
    assert.equal((await titles()).length, 1);
  });

  it('attaches a worktree as it is, and checks out a branch', async (t) => {
    const { root, git, adopt, list } = await start(t);
    branchOff(root, 'topic');
    const stray = join(temporaryDirectory(t), 'stray');
    git('worktree', 'add', '--quiet', '-b', 'mine', stray);
    commit(stray, 'begun.txt');
    writeFiles(stray, { 'open.txt': 'x' });
    const attached = await adopt({ worktree: stray });
    assert.deepEqual([attached.status, attached.body.title], [201, 'Add begun.txt']);
    assert.deepEqual(
      [attached.body.worktree?.path, attached.body.worktree?.attached],
      [stray, true],
    );
    assert.equal(gitIn(stray)('status', '--porcelain'), '?? open.txt\n');
    const branch = await adopt({ branch: 'topic', title: 'Go on', type: 'feature' });
    assert.deepEqual([branch.status, branch.body.title], [201, 'Go on']);
    assert.equal(branch.body.worktree?.branch, 'topic');
    const { worktrees, branches } = await list();
    assert.deepEqual([worktrees, branches], [[], []]);
  });

  it('leaves no Work item where the work cannot be taken', async (t) => {
    const { root, git, adopt, session, titles } = await start(t);
    const refused = async (answer: ReturnType<typeof adopt>) => {
      const { status, body } = await answer;
      return [status, (body as never as { code: string }).code];
    };
    assert.deepEqual(await refused(adopt({ worktree: root })), [422, 'not_a_worktree']);
    assert.deepEqual(await refused(adopt({ branch: 'nowhere' })), [404, 'not_found']);
    assert.deepEqual(await refused(adopt({ branch: 'main' })), [404, 'not_found']);
    assert.deepEqual(await refused(adopt({})), [400, 'bad_request']);
    assert.deepEqual(await refused(adopt({ branch: 'a', worktree: root })), [400, 'bad_request']);
    branchOff(root, 'topic');
    writeFileSync(join(root, 'topic.txt'), 'other');
    git('add', 'topic.txt');
    git('commit', '--quiet', '-m', 'Other');
    assert.throws(() => git('merge', '--quiet', 'topic'));
    assert.deepEqual(await refused(session(SESSIONS.planned)), [422, 'invalid_state']);
    assert.deepEqual(await titles(), []);
    assert.equal((await session(SESSIONS.planned, { copy_changes: false })).status, 201);
  });
});
