import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { keepReplacedCommits, pinRefs, unpin } from '../../../../lib/code/turn-repository/pins.ts';
import { visibleRefs } from '../../../../lib/code/turn-repository/refs.ts';
import {
  known,
  makeRepository,
  type TestRepository,
  testGit,
} from '../../../helpers/repository.ts';

const commitOn = ({ git }: TestRepository, branch: string): string => {
  git('checkout', '--quiet', '-b', branch, 'main');
  git('commit', '--quiet', '--allow-empty', '--message', branch);
  git('checkout', '--quiet', 'main');
  return git('rev-parse', branch).trim();
};

const isThere = ({ git }: TestRepository, oid: string): boolean =>
  git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)').includes(oid);

const forget = ({ git }: TestRepository, ...branches: string[]): void => {
  for (const branch of branches) git('branch', '--quiet', '-D', branch);
  git('reflog', 'expire', '--expire=now', '--all');
  git('gc', '--quiet', '--prune=now');
};

describe('pinRefs', () => {
  it('holds every commit against a gc, of one branch or several, until they are let go', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t).at(known(made));
    const commits = ['one', 'two', 'three'].map((branch) => commitOn(made, branch));
    made.git('tag', '-a', '-m', 'x', 'v1', 'one');
    await pinRefs(git, 'turn', await visibleRefs(git));
    made.git('tag', '-d', 'v1');
    forget(made, 'one', 'two', 'three');
    for (const commit of commits) assert.ok(isThere(made, commit), commit);
    assert.equal(made.git('fsck', '--no-dangling').trim(), '');
    // What a daemon that died has left there is no obstacle.
    await pinRefs(git, 'turn', await visibleRefs(git));
    assert.equal(made.git('rev-parse', 'refs/dossier/pins/turn'), made.git('rev-parse', 'main'));
    const four = commitOn(made, 'four');
    await pinRefs(git, 'turn', await visibleRefs(git));
    forget(made, 'four');
    assert.ok(isThere(made, four));
    await unpin(git, 'turn');
    forget(made);
    for (const commit of [...commits, four]) assert.ok(!isThere(made, commit), commit);
  });
});

describe('keepReplacedCommits', () => {
  it('makes a commit of this time over those that no ref reaches', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t).at(known(made));
    const lost = commitOn(made, 'lost');
    made.git('branch', '--quiet', '-D', 'lost');
    const main = made.git('rev-parse', 'main').trim();
    const before = Math.floor(Date.now() / 1000);
    const kept = await keepReplacedCommits(git, [main, lost]);
    const [id, parents, seconds] = made
      .git('log', '-1', '--format=%H%n%P%n%ct', kept?.kept_ref ?? '')
      .split('\n');
    assert.deepEqual([id, parents], [kept?.after, lost]);
    assert.ok(Number(seconds) >= before, seconds);
    assert.equal(await keepReplacedCommits(git, [main]), undefined);
  });
});

describe('visibleRefs', () => {
  it('says of what kind each object is, also where a ref names one that is gone', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t).at(known(made));
    made.git('tag', '-a', '-m', 'x', 'v1');
    const head = made.git('rev-parse', 'main').trim();
    const tag = made.git('rev-parse', 'v1').trim();
    const kinds = new Map([
      [head, 'commit'],
      [tag, 'tag'],
    ]);
    assert.deepEqual((await visibleRefs(git)).kinds, kinds);
    const lost = commitOn(made, 'lost');
    const { refs } = await visibleRefs(git);
    assert.equal(refs.get('refs/heads/lost'), lost);
    made.git('update-ref', 'refs/heads/lost', head);
    made.git('reflog', 'expire', '--expire=now', '--all');
    made.git('gc', '--quiet', '--prune=now');
    writeFileSync(join(made.root, '.git/refs/heads/lost'), `${lost}\n`);
    assert.deepEqual((await visibleRefs(git)).kinds, kinds);
  });
});
