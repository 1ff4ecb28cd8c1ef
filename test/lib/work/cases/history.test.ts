import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ServiceError } from '../../../../lib/errors.ts';
import type { Service } from '../../../../lib/service.ts';
import { getHistory } from '../../../../lib/work/cases/read.ts';
import { insertCase } from '../../../../store/cases/cases.ts';
import type { OpenStore } from '../../../../store/open.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { HistoryEntry } from '../../../../store/records/history.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import { STATE_DIR } from '../../../helpers/state-dir.ts';
import { openCompared } from '../../../helpers/workspace.ts';

const MADE_AT = '2026-03-01T10:00:00.000Z';
const ID = '11111111-2222-4333-8444-555555555555';

/** A workspace below `top` with one Work item, and a git whose every commit is a minute after the one before. */
const workspace = async (t: TestContext, top: string, root = top) => {
  const open = await openCompared(root, {
    state: STATE_DIR,
    clock: () => new Date(MADE_AT),
    follow: () => undefined,
    trust: true,
    report: (error, what) => assert.fail(`${what}: ${error}`),
  });
  atEnd(t, () => open.close());
  const matter = {
    id: ID,
    title: 'One',
    type: 'task',
    state: 'OPEN' as const,
    created_at: MADE_AT,
  };
  const item = await insertCase(open.store, { matter, description: '' });
  let minute = 0;
  const git = (...args: string[]): string => {
    minute += 1;
    const date = new Date(Date.parse(MADE_AT) + minute * 60_000).toISOString();
    const env = {
      PATH: process.env.PATH,
      HOME: top,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    };
    return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' });
  };
  const write = (name: string, text: string): void =>
    writeFiles(join(root, item.path), { [name]: text });
  const commit = (message: string): void => {
    git('add', '--all', '--', 'cases');
    git('commit', '--quiet', '--message', message);
  };
  return { root, item, git, write, commit, service: serviceOf(open), ...open };
};

const serviceOf = ({ store }: Pick<OpenStore, 'store'>): Service => ({ store }) as Service;

const CHANGES: Record<string, string> = { A: 'added', M: 'modified', T: 'modified', D: 'removed' };

/** What git itself says, in the same form. */
const asGitTells = (git: (...args: string[]) => string, { path }: Case): HistoryEntry[] => {
  const format = '--format=%x01%H%x02%an%x02%ae%x02%at%x02%B%x02';
  return git('log', '-c', '--name-status', '--no-renames', format, '--', path)
    .split('\x01')
    .slice(1)
    .map((text) => {
      const [commit = '', author = '', email = '', at, message = '', files = ''] =
        text.split('\x02');
      return {
        commit,
        author,
        email,
        at: new Date(Number(at) * 1000).toISOString(),
        message: message.trimEnd(),
        files: files
          .split('\n')
          .filter(Boolean)
          .map((line) => fileIn(line, path)),
      };
    })
    .filter(({ files }) => files.length > 0);
};

const fileIn = (line: string, dir: string): HistoryEntry['files'][number] => {
  const [letters = '', path = ''] = line.split('\t');
  const change = CHANGES[letters.charAt(0)] as 'added' | 'modified' | 'removed';
  return { path: path.slice(path.indexOf(`${dir}/`) + dir.length + 1), change };
};

describe('getHistory', () => {
  it('tells the commits that changed a Work item as git log does, merges and all', async (t) => {
    const { root } = makeRepository(t);
    const { item, git, write, commit, service } = await workspace(t, root);
    commit('the item');
    writeFiles(root, { 'README.md': 'changed' });
    git('commit', '--quiet', '--all', '--message', 'elsewhere');
    git('checkout', '--quiet', '-b', 'side');
    write('memory/notes.md', 'from the side\n');
    commit('a note on the side');
    write('proof/log.md', 'side\n');
    commit('proof on the side');
    git('checkout', '--quiet', 'main');
    write('proof/log.md', 'main\n');
    write('memory/deep/er.md', 'deep\n');
    commit('proof on main\n\nwith a body');
    assert.throws(() => git('merge', '--quiet', 'side'));
    write('proof/log.md', 'both\n');
    commit('a merge that had to decide');
    git('checkout', '--quiet', '-b', 'dead-end', 'HEAD~1');
    write('memory/notes.md', 'never taken\n');
    commit('lost work');
    git('checkout', '--quiet', 'main');
    git('merge', '--quiet', '--strategy', 'ours', '--message', 'ours', 'dead-end');
    rmSync(join(root, item.path, 'memory/deep'), { recursive: true });
    write('memory/deep', 'now a file\n');
    commit('a folder becomes a file');

    const told = await getHistory(service.store, ID);
    assert.deepEqual(told, asGitTells(git, item));
    assert.deepEqual(
      told.map(({ message }) => message.split('\n')[0]),
      [
        'a folder becomes a file',
        'a merge that had to decide',
        'proof on main',
        'proof on the side',
        'a note on the side',
        'the item',
      ],
    );
    assert.deepEqual(told[0]?.files, [
      { path: 'memory/deep', change: 'added' },
      { path: 'memory/deep/er.md', change: 'removed' },
    ]);
  });

  it('reads packed history, and a workspace that is a folder of the repository', async (t) => {
    const { root: top } = makeRepository(t);
    const { item, git, write, commit, service } = await workspace(t, top, join(top, 'deep/space'));
    commit('the item');
    for (const round of ['one', 'two', 'three']) {
      write('memory/notes.md', round);
      commit(round);
    }
    git('gc', '--quiet');
    const told = await getHistory(service.store, ID);
    assert.deepEqual(told, asGitTells(git, item));
    assert.equal(told.length, 4);
  });

  it('answers so many commits as are asked for, the newest', async (t) => {
    const { root } = makeRepository(t);
    const { write, commit, service } = await workspace(t, root);
    commit('the item');
    for (const round of ['one', 'two', 'three']) {
      write('memory/notes.md', round);
      commit(round);
    }
    const told = await getHistory(service.store, ID, 2);
    assert.deepEqual(
      told.map(({ message }) => message),
      ['three', 'two'],
    );
  });

  it('goes on before a move of the whole directory', async (t) => {
    const { root } = makeRepository(t);
    const { item, write, commit, service, watch } = await workspace(t, root);
    commit('the item');
    write('memory/notes.md', 'one');
    commit('a note');
    const moved = join(dirname(item.path), 'renamed-by-hand');
    renameSync(join(root, item.path), join(root, moved));
    commit('the directory is moved');
    writeFileSync(join(root, moved, 'memory/notes.md'), 'two');
    commit('another note');
    await watch(() => undefined).sweepNow();
    const told = await getHistory(service.store, ID);
    assert.deepEqual(
      told.map(({ message, files }) => [message, ...files.map(({ path }) => path)]),
      [
        ['another note', 'memory/notes.md'],
        ['the directory is moved'],
        ['a note', 'memory/notes.md'],
        ['the item', 'case.md'],
      ],
    );
  });

  it('finds again what was there before the item was deleted and put back', async (t) => {
    const { root } = makeRepository(t);
    const { git, commit, service } = await workspace(t, root);
    commit('the item');
    git('rm', '--quiet', '-r', '--cached', 'cases');
    git('commit', '--quiet', '--message', 'gone');
    commit('back');
    const told = await getHistory(service.store, ID);
    assert.deepEqual(
      told.map(({ message, files }) => [message, files[0]?.change]),
      [
        ['back', 'added'],
        ['gone', 'removed'],
        ['the item', 'added'],
      ],
    );
  });

  it('reads a workspace that is a linked worktree, and one whose history is shallow', async (t) => {
    const origin = makeRepository(t);
    const { write, commit } = await workspace(t, origin.root);
    commit('the item');
    write('memory/notes.md', 'one');
    commit('a note');
    origin.git('worktree', 'add', '--quiet', '-b', 'other', join(origin.root, 'linked'));
    const shallow = temporaryDirectory(t);
    gitIn(shallow)('clone', '--quiet', '--depth', '1', `file://${origin.root}`, shallow);
    for (const [root, expected] of [
      [join(origin.root, 'linked'), ['a note', 'the item']],
      [shallow, ['a note']],
    ] as const) {
      const open = await openCompared(root, {
        state: STATE_DIR,
        clock: () => new Date(MADE_AT),
        follow: () => undefined,
        trust: true,
        report: (error, what) => assert.fail(`${what}: ${error}`),
      });
      const told = await getHistory(serviceOf(open).store, ID);
      await open.close();
      assert.deepEqual(
        told.map(({ message }) => message),
        expected,
      );
    }
  });

  it('is empty without a repository, and before the first commit', async (t) => {
    const root = temporaryDirectory(t);
    const { service } = await workspace(t, root);
    assert.deepEqual(await getHistory(service.store, ID), []);
    gitIn(root)('init', '--quiet');
    assert.deepEqual(await getHistory(service.store, ID), []);
  });

  it('says so when the repository cannot be read', async (t) => {
    const { root } = makeRepository(t);
    const { git, commit, service } = await workspace(t, root);
    commit('the item');
    const tree = git('rev-parse', 'HEAD^{tree}').trim();
    rmSync(join(root, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    await assert.rejects(getHistory(service.store, ID), { code: 'git_failed' });
  });

  it('knows no Work item that is not there', async (t) => {
    const { service } = await workspace(t, temporaryDirectory(t));
    await assert.rejects(
      getHistory(service.store, '99999999-2222-4333-8444-555555555555'),
      (error) => error instanceof ServiceError && error.code === 'not_found',
    );
  });
});
