import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  keepRefTargets,
  putRefsBack,
  sortOut,
} from '../../../../../lib/code/snapshots/undo-refs.ts';
import { changedRefs, listRefs } from '../../../../../lib/tools/git/read/refs.ts';
import { gitAt } from '../../../../../lib/tools/git/run/create-git.ts';
import type { Git, GitWorktree } from '../../../../../lib/tools/git/run/git.ts';
import { known, makeRepository, makeWorktree, testGit } from '../../../../helpers/repository.ts';

const ADDRESS = 'run@dossier.invalid';
const isOwn = (by: string): boolean => by.endsWith(`<${ADDRESS}>`);

const START = `
git commit -q --allow-empty -m two; git branch feature main~1; git branch other; git tag v1
git tag -a -m 'a note' v2; echo x > stashed.txt; git add stashed.txt; git stash push -q -m mine`;

interface Made {
  git: Git;
  worktree: GitWorktree;
  root: string;
  operator: (script: string) => string;
  agent: (script: string) => string;
  refs: () => string;
  /** Does what happens after a Plan turn that began with `had`. */
  undo: (had: Buffer) => Promise<{ own: string[]; others: string[]; back: string[] }>;
}

const make = async (t: TestContext): Promise<Made> => {
  const made = makeRepository(t);
  const git = testGit(t);
  const worktree = await makeWorktree(t, git, known(made));
  const shell = (cwd: string, more: Record<string, string>) => (script: string) => {
    const env = { PATH: process.env.PATH, HOME: made.root, LC_ALL: 'C', ...more };
    const { stdout, stderr, status } = spawnSync('sh', ['-ec', script], {
      ...{ cwd, env },
      encoding: 'utf8',
      maxBuffer: 64 * 1_048_576,
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const operator = shell(made.root, {});
  operator(START);
  return {
    ...{ git, worktree, operator, root: made.root },
    agent: shell(worktree.path, {
      GIT_COMMITTER_NAME: 'Dossier agent',
      GIT_COMMITTER_EMAIL: ADDRESS,
      GIT_CONFIG_PARAMETERS: "'core.logAllRefUpdates=always'",
    }),
    refs: () => `${operator('git show-ref')}${operator('git stash list')}`,
    undo: async (had) => {
      const changes = changedRefs(had, await listRefs(git.at(worktree))).filter(
        ({ ref }) => ref !== 'refs/heads/work/one',
      );
      const { own, others } = await sortOut(worktree, changes, isOwn);
      const kept = await keepRefTargets(
        git.at(worktree),
        own.map(({ ref, after }) => ({ ref, value: after })),
      );
      assert.equal(kept.size, own.filter(({ after }) => after !== null).length);
      const back = await putRefsBack(git.at(worktree), own);
      const names = (all: { ref: string }[]): string[] => all.map(({ ref }) => ref).toSorted();
      return { own: names(own), others: names(others), back: [...back].toSorted() };
    },
  };
};

const withoutKept = (refs: string): string =>
  refs
    .split('\n')
    .filter((line) => !/refs\/(dossier|heads\/work)\//.test(line))
    .join('\n');

describe('what an agent did to refs', () => {
  for (const [what, script] of [
    ['a branch made', 'git branch sly'],
    ['a tag made', 'git tag sly; git tag -a -m x slier'],
    ['a branch moved', 'git branch -f feature main; git update-ref refs/heads/other main~1'],
    [
      'a branch moved twice',
      'git branch -f feature main; git commit -q --allow-empty -m x; git branch -f feature HEAD',
    ],
    ['a tag moved', 'git tag -f v1 main~1; git tag -f v2 main~1'],
    ['a branch renamed', 'git branch -m feature renamed'],
    ['a branch renamed over another', 'git branch -M feature other'],
    ['a branch deleted and made anew', 'git branch -D feature; git branch feature main'],
    ['a note', 'git notes add -m sly main'],
    ['a replacement', 'git replace main main~1'],
    ['a stash', 'echo sly > sly.txt; git add sly.txt; git stash push -q'],
    ['two stashes', 'for n in 1 2; do echo $n > a; git add a; git stash push -q -m $n; done'],
    ['a branch whose name is odd', "git branch 'a$(b)ü\u2026'"],
    [
      'a branch in the operator’s checkout',
      'cd "$(dirname "$(git rev-parse --git-common-dir)")"; git commit -q --allow-empty -m sly',
    ],
  ] as const)
    it(`is undone to the letter: ${what}`, async (t) => {
      const { git, worktree, agent, refs, undo } = await make(t);
      const [had, before] = [await listRefs(git.at(worktree)), refs()];
      agent(script);
      assert.notEqual(refs(), before);
      const { own, others, back } = await undo(had);
      assert.deepEqual([others, back], [[], own]);
      assert.equal(withoutKept(refs()), withoutKept(before));
    });

  it('leaves a branch that was renamed the notes that git has of it', async (t) => {
    const { git, worktree, operator, agent, undo } = await make(t);
    operator('git branch -f feature main; git branch -f feature main~1');
    const had = await listRefs(git.at(worktree));
    const log = operator('git reflog feature');
    agent('git branch -f feature main; git branch -m feature renamed');
    const { own } = await undo(had);
    assert.deepEqual(own, ['refs/heads/feature', 'refs/heads/renamed']);
    assert.equal(operator('git reflog feature'), log);
  });

  it('is undone to what the operator made of it meanwhile, and not what he did after', async (t) => {
    const { git, worktree, agent, operator, refs, undo } = await make(t);
    const had = await listRefs(git.at(worktree));
    operator('git commit -q --allow-empty -m mine; git branch -f feature; git branch new');
    agent(
      'git branch -f feature main~1; git branch -f new main~1; git branch sly; git branch sly2',
    );
    operator(
      'git commit -q --allow-empty -m three; git branch -f sly; git tag -d v1; git stash drop -q',
    );
    const before = refs();
    const { own, others } = await undo(had);
    assert.deepEqual(own, ['refs/heads/feature', 'refs/heads/new', 'refs/heads/sly2']);
    const [stash = '', ...more] = others.toReversed();
    assert.match(stash, /^refs\/tags\/v1$/);
    assert.match(more[0] ?? '', /^refs\/stash@\{[0-9a-f]{40}\}$/);
    assert.deepEqual(more.slice(1), ['refs/heads/sly', 'refs/heads/main']);
    const main = operator('git rev-parse main~1').trim();
    const feature = operator('git rev-parse feature new').trim();
    assert.equal(feature, `${main}\n${main}`);
    const rest = (text: string): string =>
      withoutKept(text).replaceAll(/.*refs\/heads\/(feature|new|sly2)\n/g, '');
    assert.equal(rest(refs()), rest(before));
  });

  it('stays where it was changed between the look and the undoing', async (t) => {
    const { git, worktree, agent, operator } = await make(t);
    const had = await listRefs(git.at(worktree));
    agent('git branch one; git branch two');
    const { own } = await sortOut(
      worktree,
      changedRefs(had, await listRefs(git.at(worktree))),
      isOwn,
    );
    operator('git branch -f one main');
    assert.deepEqual([...(await putRefsBack(git.at(worktree), own))], ['refs/heads/two']);
    assert.equal(operator('git rev-parse one'), operator('git rev-parse main'));
  });

  it('is nobody’s where git notes nothing: a deletion, or a file that was written past git', async (t) => {
    const { git, worktree, agent, refs, undo } = await make(t);
    const had = await listRefs(git.at(worktree));
    agent(
      'git branch -D feature; git tag -d v1; git symbolic-ref refs/heads/link refs/heads/main; git rev-parse main~1 > "$(git rev-parse --git-common-dir)/refs/heads/other"',
    );
    const before = refs();
    const { own, others } = await undo(had);
    const names = ['feature', 'link', 'other'].map((name) => `refs/heads/${name}`);
    assert.deepEqual([own, others], [[], [...names, 'refs/tags/v1']]);
    assert.equal(refs(), before);
  });
});

describe('keepRefTargets', () => {
  it('keeps what can be kept, one by one where some are gone', async (t) => {
    const { git, worktree, operator } = await make(t);
    const [main = '', tag = ''] = operator('git rev-parse main v2').split('\n');
    const kept = await keepRefTargets(git.at(worktree), [
      { ref: 'refs/heads/a', value: main },
      { ref: 'refs/heads/gone', value: 'd'.repeat(40) },
      { ref: 'refs/heads/link', value: 'refs/heads/main' },
      { ref: 'refs/tags/t', value: tag },
    ]);
    assert.deepEqual([...kept.keys()], ['refs/heads/a', 'refs/tags/t']);
    const held = [...kept.values()].map((ref) => operator(`git rev-parse ${ref}`).trim());
    assert.deepEqual(held, [main, tag]);
  });
});

describe('listRefs', () => {
  it('takes one git process for fifty thousand packed refs, and so does undoing hundreds', async (t) => {
    const { git, worktree, operator, agent, refs } = await make(t);
    const oid = operator('git rev-parse main').trim();
    const tags = Array.from({ length: 50_000 }, (_, n) => `${oid} refs/tags/n${100_000 + n}\n`);
    const header = '# pack-refs with: peeled fully-peeled sorted \n';
    writeFileSync(join(worktree.common_dir, 'packed-refs'), header + tags.join(''));
    let started = 0;
    const counted = gitAt((place, ...asked) => {
      started += 1;
      return git.at(place).run(...asked);
    }, worktree);
    const had = await listRefs(counted);
    assert.equal(started, 1);
    assert.ok(had.length > 50_000 * 48);
    const before = refs();
    agent(
      'oid=$(git rev-parse main); for n in $(seq 200); do echo "create refs/heads/sly/$n $oid"; done | git update-ref --stdin',
    );
    const changes = changedRefs(had, await listRefs(counted));
    const { own } = await sortOut(worktree, changes, isOwn);
    const values = own.map(({ ref, after }) => ({ ref, value: after }));
    assert.equal((await keepRefTargets(counted, values)).size, 200);
    assert.equal((await putRefsBack(counted, own)).size, 200);
    assert.equal(started, 4);
    assert.equal(withoutKept(refs()), withoutKept(before));
  });
});
