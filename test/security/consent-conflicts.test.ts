/** Records of rebases, which are in the workspace: git restores, moves and deletes refs only by those of this machine. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Worktree } from '../../store/records/worktree.ts';
import { acquireLock } from '../../store/sessions/locks.ts';
import { assertProblem } from '../helpers/work-item.ts';
import { commit, rebaseScene, type Scene } from '../lib/work/conflicts/fixture.ts';

/** A rebase that has ended, and a commit that only its repository knows. */
const ended = async (t: TestContext) => {
  const scene = await rebaseScene(t, {
    start: { 'a.txt': 'one\n' },
    base: [{ 'b.txt': 'base\n' }],
    branch: [{ 'a.txt': 'branch\n' }],
  });
  const { body } = await scene.post('pr/rebase');
  assert.equal(body.status, 'clean');
  const { root } = scene.running.repository;
  const before = scene.main('rev-parse', 'main').trim();
  const theirs = commit(scene.main, root, { 'theirs.txt': 'theirs\n' });
  scene.main('reset', '--quiet', '--hard', before);
  return { scene, theirs };
};

/** Changes lines of the record, as a pull would. */
const rewrite = ({ running, item }: Scene, lines: Readonly<Record<string, string>>): void => {
  const folder = join(running.workspace, item.path, 'conflicts');
  const path = join(folder, readdirSync(folder)[0] ?? '');
  let text = readFileSync(path, 'utf8');
  for (const [name, value] of Object.entries(lines))
    text = text.replace(new RegExp(`^${name}:.*\\n(?: .*\\n)*`, 'm'), `${name}: ${value}\n`);
  writeFileSync(path, text);
};

const asNow = ({ git, worktree, main }: Scene) => [
  main('for-each-ref'),
  git('status', '--porcelain'),
  git('symbolic-ref', 'HEAD'),
  worktree.base_commit,
];

describe('a record of a rebase that a pull opened again', () => {
  it('moves no branch to a commit that it names when the operator aborts, and is told', async (t) => {
    const { scene, theirs } = await ended(t);
    const [, , ...picture] = scene
      .main('cat-file', 'commit', (await scene.history())[0]?.snapshot_ref ?? '')
      .split('\n\n');
    const forged = { ...JSON.parse(picture.join('\n\n')), branch: 'refs/heads/main', head: theirs };
    const message = `x\n\n${JSON.stringify(forged)}`;
    const made = scene.main('commit-tree', `${theirs}^{tree}`, '-m', message).trim();
    const before = asNow(scene);
    const snapshot = `{ref: refs/dossier/snapshots/x, commit: ${made}}`;
    rewrite(scene, { outcome: 'null', step: 'interrupted', snapshot });
    assertProblem(await scene.post('conflicts/abort'), 422, 'invalid_state');
    assert.deepEqual(asNow(scene), before);
    const [told] = await scene.history();
    assert.deepEqual([told?.outcome, told?.elsewhere], [null, true]);
    // A value that no text can be made of.
    rewrite(scene, { seal: '{toString: 1}' });
    assert.equal((await scene.history())[0]?.elsewhere, true);
    const { detail } = assertProblem(
      await scene.post('conflicts/push-rebased'),
      422,
      'invalid_state',
    );
    assert.match(detail, /did not write the record .* git push --force-with-lease/);
  });

  it('has the next start write no file, move no base and delete no ref', async (t) => {
    const { scene, theirs } = await ended(t);
    const { running, item, main, git, worktree } = scene;
    const kept = `refs/dossier/recovered/${item.id.slice(0, 8)}-mine`;
    main('update-ref', kept, theirs);
    const staged = main('commit-tree', `${theirs}^{tree}`, '-p', 'main', '-m', 'x').trim();
    const parents = ['-p', 'main', '-p', staged];
    const aside = main('commit-tree', `${theirs}^{tree}`, ...parents, '-m', 'x').trim();
    const before = asNow(scene);
    rewrite(scene, {
      ...{ outcome: 'null', step: 'rebasing', onto: worktree.branch },
      onto_commit: git('rev-parse', 'HEAD').trim(),
      set_aside: `{ref: ${kept}, commit: ${aside}}`,
    });
    const acquired_at = new Date().toISOString();
    const lock = { kind: 'operator' as const, operation: 'rebase', acquired_at };
    assert.ok(await acquireLock(running.service.store, item.id, lock));
    await running.restart();
    assert.deepEqual(asNow(scene), before);
    const { body } = await running.call<Worktree>('GET', `/api/worktrees/${item.id}/status`);
    assert.notEqual(body.base_commit, git('rev-parse', 'HEAD').trim());
  });
});
