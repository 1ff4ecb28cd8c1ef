import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gitMark, gitStall, isGitReplaying } from '../../../store/fs/git-dir.ts';
import { layoutOf } from '../../../store/layout.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

describe('gitStall', () => {
  it('takes what cannot be looked at in the git directory for nothing', (t) => {
    const root = temporaryDirectory(t);
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
    symlinkSync('rebase-merge', join(root, '.git/rebase-merge'));
    const layout = layoutOf(root);
    assert.equal(typeof gitStall(layout), 'number');
    assert.equal(isGitReplaying(layout), true);
    assert.notEqual(gitMark(layout), '');
  });
});
