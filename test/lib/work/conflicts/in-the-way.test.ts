import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { writeFiles } from '../../../helpers/repository.ts';
import type { Answered } from '../../../helpers/service.ts';
import { type Answer, type Change, commit, rebaseScene, type Scene } from './fixture.ts';

const START = {
  '.gitignore': '*.ig\n',
  'a.txt': 'one\n',
  config: 'one\n',
  'dd/a': 'one\n',
  'dd/b': 'one\n',
};

/** Bases that have not moved, that moved, and at which the first commit conflicts. */
const BASES: Readonly<Record<string, Change[]>> = {
  'a base that has not moved': [],
  'a base that moved': [{ 'c.txt': 'base\n' }],
  'a base that conflicts': [{ 'a.txt': 'base\n' }],
};

const sceneOn = (t: TestContext, base: Change[], start = {}): Promise<Scene> =>
  rebaseScene(t, { start: { ...START, ...start }, base, branch: [{ 'a.txt': 'branch\n' }] });

const sh = ({ worktree }: Scene, script: string): string =>
  execFileSync('sh', ['-ec', script], { cwd: worktree.path, encoding: 'utf8' });

/** Everything of a worktree: commit, index, and each file and link, ignored ones too. */
const stateOf = (scene: Scene): string[] => [
  ...filesOf(scene),
  scene.git('rev-parse', 'HEAD'),
  scene.git('ls-files', '--stage'),
];

const filesOf = (scene: Scene): string[] => [
  sh(
    scene,
    'find . -name .git -prune -o -type l -print -exec readlink {} ";" -o -type f -print -exec cat {} ";" | sort',
  ),
  scene.git('status', '--porcelain', '--ignored', '--untracked-files=all'),
];

const isNoneOfGit = (path: string): boolean => !path.includes('.git/');

const clean = ({ git }: Scene): void => {
  git('reset', '--quiet', '--hard');
  git('clean', '-qffdx');
};

describe('a rebase over files that git does not track, in the place of tracked ones', () => {
  const CASES: Readonly<Record<string, string[]>> = {
    'rm config; mkdir config; echo precious > config/x.ig': ['config/x.ig'],
    'rm config; mkdir config; echo x > config/x; echo y > config/y.ig': ['config/x', 'config/y.ig'],
    'git rm -q config; mkdir -p config/deep; echo x > config/deep/x': ['config/deep/x'],
    'git rm -q config; mkdir config; echo x > config/x; git add config/x; echo y > config/y.ig': [
      'config/y.ig',
    ],
    'rm config; git init -q config; echo x > config/x': ['config/x'],
    'rm -r dd; echo file > dd': ['dd'],
    'git rm -qr dd; ln -s a.txt dd': ['dd'],
    'git rm -q config; ln -s a.txt config': ['config'],
    'git rm -q config; echo again > config': ['config'],
    'git rm -q --cached config': ['config'],
    'git rm -q --cached config; echo config >> .gitignore': ['config'],
    'git rm -qr --cached dd; echo dd/ > .git-ignore; mv .git-ignore .gitignore': ['dd/a', 'dd/b'],
    'git update-index --assume-unchanged dd/a; rm dd/a; mkdir dd/a; echo x > dd/a/x.ig; echo 2 > a.txt':
      ['dd/a/x.ig'],
  };

  /** The answer to a rebase over these files, and that it changes nothing. */
  const refuse = async (scene: Scene, keep_changes: boolean): Promise<Answered<Answer>> => {
    const before = stateOf(scene);
    const answer = await scene.post('pr/rebase', { keep_changes });
    assert.deepEqual([answer.status, answer.body.code], [409, 'uncommitted_changes'], answer.text);
    assert.match(answer.body.detail, /would lose (?:it|them)\. Move (?:it|them) out of the/);
    assert.deepEqual(stateOf(scene), before);
    return answer;
  };

  for (const [what, base] of Object.entries(BASES))
    it(`is refused with nothing touched, onto ${what}`, async (t) => {
      const scene = await sceneOn(t, base);
      for (const [script, lost] of Object.entries(CASES)) {
        sh(scene, script);
        const { body } = await refuse(scene, true);
        const named = body.files as unknown as string[];
        assert.deepEqual(named.filter(isNoneOfGit).toSorted(), lost, script);
        clean(scene);
      }
      sh(scene, 'rm config; mkdir config; echo x > config/x.ig');
      const { body } = await refuse(scene, false);
      assert.doesNotMatch(body.detail, /keep_changes/);
      assert.deepEqual(await scene.history(), []);
      assert.equal(scene.git('for-each-ref', 'refs/dossier'), '');
    });

  it('is refused where the rebase itself would remove ignored files', async (t) => {
    const scene = await sceneOn(
      t,
      [{ build: 'a file\n', 'cache/x': 'in a directory\n', 'link/x': 'x\n', 'HEAD.ig/a': 'x\n' }],
      {},
    );
    writeFiles(scene.worktree.path, { 'build/out.ig': 'mine\n', cache: 'mine\n' });
    sh(scene, 'printf "cache\\nlink\\n" >> "$(git rev-parse --git-path info/exclude)"');
    sh(scene, 'ln -s dd link; mkdir HEAD.ig; echo mine > HEAD.ig/b.ig');
    const before = stateOf(scene);
    const { status, body, text } = await scene.post('pr/rebase');
    assert.equal(status, 409, text);
    assert.deepEqual(body.files, ['build/out.ig', 'cache', 'link'] as never);
    assert.deepEqual(stateOf(scene), before);
    sh(scene, 'rm -r build cache link');
    const done = await scene.post('pr/rebase');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(sh(scene, 'cat HEAD.ig/b.ig'), 'mine\n');
  });
});

describe('a rebase over changes of type', () => {
  const CASES = [
    'rm config; mkdir config; git rm -q dd/a; echo x > dd/x; echo y > dd/y.ig',
    'rm config; ln -s dd config; rm -r dd; echo 1 > dd; git add dd; echo 2 >> dd; echo 3 > new.ig',
    'rm config; mkdir config; echo x > config/x; git add -A config; rm dd/a; ln -s b dd/a; git add dd',
  ];

  for (const [what, base] of Object.entries(BASES))
    it(`brings everything back, onto ${what}`, async (t) => {
      const scene = await sceneOn(t, base);
      const head = scene.git('rev-parse', 'HEAD').trim();
      for (const script of CASES) {
        sh(scene, script);
        const [before, files] = [stateOf(scene), filesOf(scene)];
        let answer = await scene.post('pr/rebase', { keep_changes: true });
        if (answer.body.status === 'conflicted') {
          await scene.post('conflicts/abort');
          assert.deepEqual(stateOf(scene), before, `${script}: aborted`);
          await scene.post('pr/rebase', { keep_changes: true });
          writeFiles(scene.worktree.path, { 'a.txt': 'branch\n' });
          answer = await scene.post('conflicts/apply');
        }
        assert.equal(answer.body.changes, 'brought_back', `${script}: ${answer.text}`);
        const [now = '', status] = filesOf(scene);
        assert.deepEqual(
          [now.replace('./c.txt\n', '').replace('base\n', ''), status],
          files,
          script,
        );
        clean(scene);
        scene.git('reset', '--quiet', '--hard', head);
      }
    });

  it('does not write over an ignored file that was created at a conflict', async (t) => {
    const scene = await sceneOn(t, BASES['a base that conflicts'] ?? []);
    sh(scene, 'echo mine > new.ig; git add -f new.ig');
    await scene.post('pr/rebase', { keep_changes: true });
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n', 'new.ig': 'later\n' });
    const refused = await scene.post('conflicts/apply');
    assert.deepEqual([refused.status, refused.body.code], [409, 'uncommitted_changes']);
    assert.match(refused.body.detail, /new\.ig would be overwritten\. Move these files away/);
    assert.equal(sh(scene, 'cat new.ig; mv new.ig kept.ig'), 'later\n');
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.changes, 'brought_back', done.text);
    assert.equal(sh(scene, 'cat new.ig kept.ig'), 'mine\nlater\n');
  });
});

describe('a changed file that the new base deleted', () => {
  it('does not write over an ignored file that was created there at a conflict', async (t) => {
    const base = [{ 'a.txt': 'base\n', 'old.txt': null }];
    const scene = await sceneOn(t, base, { 'old.txt': 'one\n' });
    sh(
      scene,
      'echo mine > old.txt; echo old.txt >> "$(git rev-parse --git-common-dir)/info/exclude"',
    );
    const stopped = await scene.post('pr/rebase', { keep_changes: true });
    assert.equal(stopped.body.status, 'conflicted', stopped.text);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n', 'old.txt': 'later\n' });
    const refused = await scene.post('conflicts/apply');
    assert.deepEqual(
      [refused.status, refused.body.code],
      [409, 'uncommitted_changes'],
      refused.text,
    );
    assert.equal(sh(scene, 'cat old.txt'), 'later\n');
  });
});

describe('a rebase in a repository with a file called HEAD', () => {
  it('goes on as any other, with changes and after a conflict too', async (t) => {
    const scene = await sceneOn(t, [{ 'a.txt': 'base\n' }], { HEAD: 'a file\n' });
    sh(scene, 'echo more >> HEAD; echo two > config; git add config');
    const stopped = await scene.post('pr/rebase', { keep_changes: true });
    assert.equal(stopped.body.status, 'conflicted', stopped.text);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.changes, 'brought_back', done.text);
    clean(scene);
    commit(scene.main, scene.running.repository.root, { config: 'base\n' });
    sh(scene, 'echo three > config');
    const changes = await scene.post('pr/rebase', { keep_changes: true });
    assert.equal(changes.body.changes, 'conflicted', changes.text);
    writeFiles(scene.worktree.path, { config: 'both\n' });
    assert.equal((await scene.post('conflicts/apply')).body.status, 'clean');
  });
});
