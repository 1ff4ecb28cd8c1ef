import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Service } from '../../../../lib/service.ts';
import { gitAt } from '../../../../lib/tools/git/run/create-git.ts';
import type { Git, GitSource, RunGit } from '../../../../lib/tools/git/run/git.ts';
import { createAutocommit } from '../../../../lib/transfer/history/autocommit.ts';
import { changeCase, createCase, setState } from '../../../../lib/work/cases/change.ts';
import { takeSnapshot } from '../../../../lib/work/memory/memory.ts';
import { editGlobalMemory, writeMemory } from '../../../../store/cases/memory.ts';
import { refreshWebhooks } from '../../../../store/settings/globals.ts';
import { WATCH_PACE } from '../../../../store/watch/change-scheduler.ts';
import { atEnd, killAtEnd } from '../../../helpers/at-end.ts';
import { eventually } from '../../../helpers/eventually.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../helpers/repository.ts';
import { STATE_DIR } from '../../../helpers/state-dir.ts';
import { openCompared } from '../../../helpers/workspace.ts';

const PACE = { settle_ms: 20, longest_ms: 200, retry_ms: 20, longest_retry_ms: 40 };
const IGNORED = '.dossier/\n*.lock/\n';

/** A writer of its own process, which puts ever new texts in the place of a file until it is asked to end. */
const WRITER = `
const { writeFileSync, renameSync } = require('node:fs');
const [file] = process.argv.slice(1);
let at = 0;
const write = () => {
  writeFileSync(file + '.tmp', 'version ' + (at += 1) + '\\n' + 'x'.repeat(200_000));
  renameSync(file + '.tmp', file);
  setImmediate(write);
};
process.stdin.on('end', () => process.exit()).resume();
write();
process.stdout.write('writes');
`;

interface Wanted {
  /** The repository; the workspace is `folder` in it. */
  root?: string;
  folder?: string;
  settings?: string;
}

/** A workspace in a repository, with a daemon's autocommit on it. */
const keep = async (t: TestContext, { root, folder = '', settings }: Wanted = {}) => {
  const top = root ?? makeRepository(t, { files: { '.gitignore': IGNORED } }).root;
  const workspace = join(top, folder);
  writeFiles(workspace, { 'workspace.md': settings ?? '---\nautocommit: true\n---\n' });
  const open = await openCompared(workspace, {
    state: STATE_DIR,
    clock: () => new Date(),
    follow: () => undefined,
    trust: true,
    report: (error, what) => assert.fail(`${what}: ${error}`),
  });
  const logged: string[] = [];
  const steps = new Map<string, () => unknown>();
  const { store } = open;
  const service = {
    store,
    config: {},
    clock: store.clock,
    git: stopping(testGit(t), steps),
    log: { warn: ({ why }: { why: string }) => logged.push(why) },
  } as unknown as Service;
  const autocommit = createAutocommit(service, PACE);
  autocommit.start();
  let ended = false;
  const end = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    await autocommit.close();
    await open.close();
  };
  atEnd(t, end);
  /** As a kill leaves it: nothing that was begun goes on. */
  const die = async (): Promise<void> => {
    ended = true;
    void autocommit.close();
    await open.close();
  };
  const before = (step: string, then: () => unknown): void => void steps.set(step, then);
  const git = gitIn(top);
  const subjects = (): string[] => git('log', '--format=%s').trim().split('\n');
  return { ...open, end, die, before, top, workspace, service, autocommit, logged, git, subjects };
};

/** Git that does something else once, before a command that begins so. */
const stopping = (git: Git, steps: Map<string, () => unknown>): Git => {
  const around =
    (run: RunGit): RunGit =>
    async (place, args, options) => {
      const step = [...steps.keys()].find((each) => args.join(' ').startsWith(each));
      const then = step === undefined ? undefined : steps.get(step);
      if (step !== undefined) steps.delete(step);
      await then?.();
      return run(place, args, options);
    };
  const via = ({ at }: GitSource): RunGit => around((place, ...asked) => at(place).run(...asked));
  return {
    ...git,
    at: (place) => gitAt(via(git), place),
    turn: (place, work) => git.turn(place, (now) => work(gitAt(via(now), place))),
  };
};

/** Resolves when the newest commit says this. */
const newest = ({ subjects }: { subjects: () => string[] }, subject: string): Promise<void> =>
  eventually(() => assert.equal(subjects()[0], subject));

// git moves the branch first, and writes its index then.
const clean = ({ git }: { git: (...args: string[]) => string }): Promise<void> =>
  eventually(() => {
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('for-each-ref', 'refs/dossier'), '');
  });

const bug = (service: Service) => createCase(service, { title: 'Fix login', type: 'bug' });

describe('autocommit', () => {
  it('commits each settled change of a Work item, and says what it was', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace } = kept;
    await newest(kept, 'workspace: settings');
    const { id, path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    await setState(service.store, id, { state: 'INVESTIGATING' });
    await newest(kept, 'case Fix login: state OPEN to INVESTIGATING');
    await writeMemory(service.store, id, { filename: 'notes.md', content: 'one\n' });
    await newest(kept, 'case Fix login: memory');
    await changeCase(service, id, { description: 'Told at length' });
    await newest(kept, 'case Fix login: case.md');
    await clean(kept);
    assert.equal(
      git('show', `HEAD:${path}/case.md`),
      readFileSync(join(workspace, path, 'case.md'), 'utf8'),
    );
  });

  it('says what a save is that nobody has noticed yet', async (t) => {
    const kept = await keep(t);
    const { service, workspace, autocommit } = kept;
    await newest(kept, 'workspace: settings');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    const file = join(workspace, path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('state: OPEN', 'state: BLOCKED'));
    autocommit.globalsChanged();
    await newest(kept, 'case Fix login: state OPEN to BLOCKED');
  });

  it('commits a removed and a moved Work item', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace, watch, autocommit } = kept;
    const attention = watch(autocommit.globalsChanged);
    await newest(kept, 'workspace: settings');
    const one = await bug(service);
    await newest(kept, 'case Fix login: created');
    const moved = join(dirname(one.path), 'moved-by-hand');
    renameSync(join(workspace, one.path), join(workspace, moved));
    await attention.sweepNow();
    await newest(kept, `case Fix login: moved to ${moved}`);
    rmSync(join(workspace, moved), { recursive: true });
    await attention.sweepNow();
    await newest(kept, 'case Fix login: removed');
    await clean(kept);
    assert.equal(git('ls-files', 'cases'), '');
  });

  it('commits the whole of a move though `git status` saw a part of it', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace, watch, autocommit } = kept;
    const attention = watch(autocommit.globalsChanged);
    await newest(kept, 'workspace: settings');
    const { id, path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    await writeMemory(service.store, id, { filename: 'notes.md', content: 'one\n' });
    await newest(kept, 'case Fix login: memory');
    await clean(kept);
    const moved = join(dirname(path), 'moved-by-hand');
    const text = readFileSync(join(workspace, path, 'case.md'), 'utf8');
    kept.before('status', () => {
      writeFiles(workspace, { [`${path}/case.md`]: text });
      kept.before('status', () => rmSync(join(workspace, path), { recursive: true }));
    });
    renameSync(join(workspace, path), join(workspace, moved));
    await attention.sweepNow();
    await newest(kept, `case Fix login: moved to ${moved}, memory`);
    await clean(kept);
    assert.equal(git('ls-files', 'cases'), `${moved}/case.md\n${moved}/memory/notes.md\n`);
  });

  it('commits settings and webhooks', async (t) => {
    const kept = await keep(t);
    const { workspace, autocommit } = kept;
    await newest(kept, 'workspace: settings');
    writeFiles(workspace, { 'webhooks/one.md': 'anything' });
    autocommit.globalsChanged();
    await newest(kept, 'workspace: webhooks');
  });

  it('commits the global memory when a watcher hints at it, whoever wrote it', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace, watch, autocommit, store } = kept;
    await newest(kept, 'workspace: settings');
    // No sweep comes to help.
    const pace = { ...WATCH_PACE, sweep_ms: 600_000, blind_sweep_ms: 600_000 };
    await watch(autocommit.globalsChanged, pace).ready;
    writeFiles(workspace, { 'memory/global.md': 'by hand\n' });
    await newest(kept, 'workspace: memory');
    await editGlobalMemory(store, () => 'by the API\n');
    await eventually(() => assert.equal(git('show', 'HEAD:memory/global.md'), 'by the API\n'));
    await takeSnapshot(service.store);
    const committed = (): string => git('ls-tree', '-r', '--name-only', 'HEAD', 'memory');
    await eventually(() => assert.match(committed(), /snapshots\/\d{4}-/));
  });

  it('leaves alone what the operator has staged, in the item too', async (t) => {
    const kept = await keep(t);
    const { service, git, top, workspace } = kept;
    await newest(kept, 'workspace: settings');
    const { id, path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    await clean(kept);
    writeFiles(top, { 'mine.txt': 'staged', 'new.txt': 'neither' });
    git('add', 'mine.txt');
    const draft = join(workspace, path, 'memory/draft.md');
    writeFiles(workspace, { [`${path}/memory/draft.md`]: 'staged half\n' });
    git('add', draft);
    writeFileSync(draft, 'staged half\nand more\n');
    await setState(service.store, id, { state: 'INVESTIGATING' });
    await newest(kept, 'case Fix login: state OPEN to INVESTIGATING');
    assert.deepEqual(git('show', '--name-only', '--format=').trim().split('\n'), [
      `${path}/case.md`,
    ]);
    assert.equal(git('show', `:${path}/memory/draft.md`), 'staged half\n');
    await eventually(() =>
      assert.deepEqual(git('status', '--porcelain').trimEnd().split('\n'), [
        `AM ${path}/memory/draft.md`,
        'A  mine.txt',
        '?? new.txt',
      ]),
    );
  });

  it('goes on with a file that changed while it was committed', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace, autocommit } = kept;
    await newest(kept, 'workspace: settings');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    const name = `${path}/memory/notes.md`;
    writeFiles(workspace, { [name]: 'before' });
    const writer = spawn(process.execPath, ['-e', WRITER, join(workspace, name)]);
    killAtEnd(t, writer);
    await once(writer.stdout, 'data');
    for (const after of [4, 5, 6, 7]) {
      autocommit.globalsChanged();
      await eventually(() => assert.ok(kept.subjects().length >= after));
    }
    writer.stdin.end();
    await once(writer, 'exit');
    rmSync(join(workspace, `${name}.tmp`), { force: true });
    autocommit.globalsChanged();
    await clean(kept);
    assert.equal(git('show', `HEAD:${name}`), readFileSync(join(workspace, name), 'utf8'));
    assert.deepEqual(service.store.problems.all(), []);
  });

  it('neither commits nor loses what the operator stages in the middle of a commit, and tells it', async (t) => {
    const kept = await keep(t);
    const { service, git, workspace, autocommit, store } = kept;
    await newest(kept, 'workspace: settings');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    const [mine, other] = [`${path}/memory/mine.md`, `${path}/memory/other.md`];
    writeFiles(workspace, { [mine]: 'committed\n', [other]: 'committed too\n' });
    kept.before('commit-tree', () => {
      writeFileSync(join(workspace, mine), 'staged\n');
      git('add', mine);
      writeFileSync(join(workspace, mine), 'written since\n');
    });
    autocommit.globalsChanged();
    await newest(kept, 'case Fix login: memory');
    await eventually(() => assert.equal(git('status', '--porcelain').trimEnd(), `MM ${mine}`));
    assert.equal(git('show', `HEAD:${mine}`), 'committed\n');
    assert.equal(git('show', `:${mine}`), 'staged\n');
    autocommit.globalsChanged();
    await eventually(() =>
      assert.deepEqual(
        store.problems.all().map(({ file, code }) => [file, code]),
        [[mine, 'not_committed']],
      ),
    );
    git('commit', '--quiet', '--message=mine');
    autocommit.globalsChanged();
    await clean(kept);
    assert.deepEqual(store.problems.all(), []);
    assert.equal(git('show', `HEAD:${mine}`), 'written since\n');
  });

  it('takes a file that the operator has only named', async (t) => {
    const kept = await keep(t);
    const { workspace, git, autocommit } = kept;
    await newest(kept, 'workspace: settings');
    // The index follows the commit.
    await clean(kept);
    writeFiles(workspace, { 'memory/global.md': 'text\n' });
    git('add', '--intent-to-add', 'memory/global.md');
    autocommit.globalsChanged();
    await newest(kept, 'workspace: memory');
    await clean(kept);
  });

  for (const step of ['update-ref', 'read-tree -m', 'add']) {
    it(`is made whole by the next daemon when one dies before ${step}`, async (t) => {
      const kept = await keep(t);
      const { service, workspace, git, top } = kept;
      await newest(kept, 'workspace: settings');
      const { path } = await bug(service);
      await newest(kept, 'case Fix login: created');
      await clean(kept);
      const died = new Promise<void>((resolve) => {
        kept.before(step, () => {
          resolve();
          return new Promise(() => undefined);
        });
      });
      writeFiles(workspace, { [`${path}/memory/notes.md`]: 'one\n' });
      kept.autocommit.globalsChanged();
      await died;
      await kept.die();
      writeFileSync(join(workspace, path, 'memory/notes.md'), 'two\n');
      const next = await keep(t, { root: top });
      await eventually(() => assert.equal(git('show', `HEAD:${path}/memory/notes.md`), 'two\n'));
      await clean(next);
    });
  }

  it('tells a file that needs a filter which it does not run, and commits the others', async (t) => {
    const kept = await keep(t);
    const { service, workspace, git, autocommit, store } = kept;
    await newest(kept, 'workspace: settings');
    git('config', 'filter.git-crypt.clean', 'tr a-z A-Z');
    git('config', 'filter.git-crypt.required', 'true');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    const secret = `${path}/memory/secret.md`;
    const files = { '.gitattributes': '**/secret.md filter=git-crypt\n', [secret]: 'plain\n' };
    writeFiles(workspace, { ...files, [`${path}/memory/notes.md`]: 'open\n' });
    autocommit.globalsChanged();
    await eventually(() => assert.equal(git('show', `HEAD:${path}/memory/notes.md`), 'open\n'));
    await eventually(() => assert.equal(git('status', '--porcelain').trimEnd(), `?? ${secret}`));
    const [problem] = store.problems.all();
    assert.deepEqual([problem?.file, problem?.code], [secret, 'not_committed']);
    assert.match(problem?.message ?? '', /has a filter for it/);
    // A last look of the daemon may hold the index.
    await eventually(() => git('add', secret));
    await eventually(() => git('commit', '--quiet', '--message=mine'));
    assert.equal(git('show', `HEAD:${secret}`), 'PLAIN\n');
  });

  it('leaves out a webhook with a secret in its file, which is reported', async (t) => {
    const kept = await keep(t);
    const { autocommit, git, store, workspace } = kept;
    const { path } = await bug(kept.service);
    // The settings of the new workspace may be committed after it.
    await eventually(() => assert.match(git('log', '--format=%s'), /^case Fix login: created$/m));
    const [text, file] = [
      '---\nurl: http://127.0.0.1:9\nsecret: fileSECRET\n---\n',
      'webhooks/x.md',
    ];
    const files = [file, `${path}/${file}`, `${path}/webhooks/broken.md`];
    writeFiles(workspace, { 'memory/a.md': 'a\n', [file]: text, [`${path}/${file}`]: text });
    writeFiles(workspace, { [files[2] ?? '']: '---\nurl: "\nsecret: fileSECRET\n---\n' });
    await refreshWebhooks(store);
    autocommit.globalsChanged();
    await eventually(() => assert.equal(git('show', 'HEAD:memory/a.md'), 'a\n'));
    const reported = store.problems.all().find((one) => one.file === file);
    assert.equal(reported?.code, 'secret_in_webhook');
    assert.match(reported?.message ?? '', /Remove it.*\.dossier\/secrets\/.*POST \/webhooks/);
    assert.equal(git('log', '--all', '-S', 'fileSECRET', '--oneline'), '');
    for (const each of files)
      writeFileSync(join(workspace, each), text.replace('secret: fileSECRET\n', ''));
    await refreshWebhooks(store);
    autocommit.globalsChanged();
    await clean(kept);
    assert.ok(!store.problems.all().some(({ code }) => code === 'secret_in_webhook'));
  });

  it('tells a repository in the workspace, which git commits nothing of', async (t) => {
    const kept = await keep(t);
    const { workspace, autocommit, store } = kept;
    await newest(kept, 'workspace: settings');
    gitIn(temporaryDirectory(t))('init', '--quiet', join(workspace, 'memory/nested'));
    writeFiles(workspace, { 'memory/nested/file.md': 'x' });
    autocommit.globalsChanged();
    await eventually(() =>
      assert.match(store.problems.all()[0]?.message ?? '', /it is a git repository/),
    );
  });

  for (const name of ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'rebase-merge/onto', 'index.lock']) {
    it(`waits while there is a ${name}`, async (t) => {
      const kept = await keep(t);
      const { service, top, git, subjects, logged } = kept;
      await newest(kept, 'workspace: settings');
      // The index follows the commit, and has its lock until then.
      await clean(kept);
      const head = git('rev-parse', 'HEAD');
      writeFiles(join(top, '.git'), { [name]: name === 'index.lock' ? '' : head });
      await bug(service);
      const [file] = name.split('/');
      await eventually(() =>
        assert.match(logged.join(), new RegExp(`in progress .*${file}\\): .*git`)),
      );
      assert.deepEqual(subjects(), ['workspace: settings', 'start']);
      assert.equal(logged.length, 1);
      rmSync(join(top, '.git', file as string), { recursive: true });
      await newest(kept, 'case Fix login: created');
    });
  }

  it('makes no commit that is on no branch', async (t) => {
    const kept = await keep(t);
    const { service, git, subjects, logged } = kept;
    await newest(kept, 'workspace: settings');
    await clean(kept);
    git('checkout', '--quiet', '--detach');
    await bug(service);
    await eventually(() => assert.deepEqual(logged, ['no branch is checked out']));
    assert.equal(subjects().length, 2);
    git('checkout', '--quiet', 'main');
    await newest(kept, 'case Fix login: created');
  });

  it('brings the index to its commit though another git holds it at that moment', async (t) => {
    const kept = await keep(t);
    const { service, git, top, before } = kept;
    await newest(kept, 'workspace: settings');
    await clean(kept);
    const lock = join(top, '.git/index.lock');
    before('read-tree -m -i', () => writeFileSync(lock, ''));
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    // It takes no other's lock for something staged: it comes back, and says what it waits for.
    await eventually(() => assert.match(kept.logged[0] ?? '', /index\.lock/));
    rmSync(lock);
    await clean(kept);
    assert.equal(git('ls-files', path).trim(), `${path}/case.md`);
  });

  it('commits what is uncommitted when it starts, each Work item by itself', async (t) => {
    const off = await keep(t, { settings: '---\nautocommit: false\n---\n' });
    await bug(off.service);
    await createCase(off.service, { title: 'Second', type: 'chore' });
    assert.deepEqual(off.subjects(), ['start']);
    await off.end();
    const kept = await keep(t, { root: off.top });
    await eventually(() =>
      assert.deepEqual(kept.subjects().toSorted(), [
        'case Fix login: created',
        'case Second: created',
        'start',
        'workspace: settings',
      ]),
    );
  });

  it('does nothing unless the settings want it', async (t) => {
    const { service, autocommit, subjects, git } = await keep(t, {
      settings: '---\nprovider: manual\n---\n',
    });
    await bug(service);
    autocommit.globalsChanged();
    await autocommit.close();
    assert.deepEqual(subjects(), ['start']);
    assert.match(git('status', '--porcelain'), /\?\? cases\//);
  });

  it('commits in a folder of a larger repository only what is in the workspace', async (t) => {
    const kept = await keep(t, { folder: 'deep/space' });
    const { service, git, top } = kept;
    writeFiles(top, { 'elsewhere.txt': 'not mine' });
    await newest(kept, 'workspace: settings');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    assert.equal(git('show', '--name-only', '--format=').trim(), `deep/space/${path}/case.md`);
    await eventually(() => assert.equal(git('status', '--porcelain').trim(), '?? elsewhere.txt'));
  });

  it('commits as the user that git knows, else as Dossier, and as the first commit too', async (t) => {
    const known = await keep(t);
    await newest(known, 'workspace: settings');
    assert.equal(
      known.git('log', '-1', '--format=%an %ce').trim(),
      'Test Operator operator@example.com',
    );
    const root = temporaryDirectory(t);
    gitIn(root)('init', '--quiet', '--initial-branch=main');
    writeFiles(root, { '.gitignore': IGNORED });
    const unknown = await keep(t, { root });
    await eventually(() => assert.equal(unknown.subjects()[0], 'workspace: .gitignore, settings'));
    assert.equal(
      unknown.git('log', '-1', '--format=%an <%ae> %cn').trim(),
      'Dossier <dossier@localhost> Dossier',
    );
  });

  it('runs no hook of the repository', async (t) => {
    const { root } = makeRepository(t, { files: { '.gitignore': IGNORED } });
    writeFiles(join(root, '.git/hooks'), { 'pre-commit': '#!/bin/sh\ntouch ran; exit 1\n' });
    chmodSync(join(root, '.git/hooks/pre-commit'), 0o755);
    const kept = await keep(t, { root });
    await newest(kept, 'workspace: settings');
    assert.equal(existsSync(join(root, 'ran')), false);
  });

  it('says once that there is no repository, and begins when there is one', async (t) => {
    const root = temporaryDirectory(t);
    const kept = await keep(t, { root });
    await bug(kept.service);
    await eventually(() => assert.match(kept.logged.join(), /not in a git repository/));
    kept.git('init', '--quiet', '--initial-branch=main');
    await eventually(() => assert.equal(kept.subjects().length, 2));
    assert.equal(kept.logged.length, 1);
  });

  it('takes names that mean something to git as they are', async (t) => {
    const kept = await keep(t);
    const { service, workspace, git, autocommit } = kept;
    await newest(kept, 'workspace: settings');
    const { path } = await bug(service);
    await newest(kept, 'case Fix login: created');
    const names = ['memory/-x.md', 'memory/a *[b].md', 'memory/ünï.md', 'memory/:(top)y.md'];
    for (const name of names) writeFiles(workspace, { [`${path}/${name}`]: name });
    autocommit.globalsChanged();
    await newest(kept, 'case Fix login: memory');
    await clean(kept);
    const committed = git('ls-tree', '-r', '-z', '--name-only', 'HEAD', path).split('\0');
    for (const name of names) assert.ok(committed.includes(`${path}/${name}`), name);
  });
});
