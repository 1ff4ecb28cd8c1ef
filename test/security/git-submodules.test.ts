/** Submodules in a turn: checked out and committed in as before, and no way to have the operator's git run something. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gitScene, type Scene, skipOf } from '../helpers/git-scene.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';

// Beside /tmp, of which an agent in a sandbox has one of its own.
process.env.TMPDIR = '/var/tmp';

const FROM_FILES = '-c protocol.file.allow=always';

const withSubmodule = async (t: TestContext, sandbox: 'auto' | 'off'): Promise<Scene> => {
  const on = await gitScene(t, sandbox);
  const inner = makeRepository(t);
  on.main('config', 'protocol.file.allow', 'always');
  on.main(...FROM_FILES.split(' '), 'submodule', '--quiet', 'add', inner.root, 'sub');
  on.main('commit', '-qm', 'with a submodule');
  on.git('merge', '-q', '--ff-only', 'main');
  return on;
};

for (const sandbox of ['auto', 'off'] as const) {
  describe(`a submodule (sandbox: ${sandbox})`, { skip: skipOf(sandbox) }, () => {
    it('that is checked out stays so after a turn, which commits in it, and runs nothing', async (t) => {
      const on = await withSubmodule(t, sandbox);
      const mark = join(temporaryDirectory(t), 'ran');
      const trap = join(on.path, 'trap.sh');
      writeFileSync(trap, `#!/bin/sh\necho x >> ${mark}\n`, { mode: 0o755 });
      on.git(...FROM_FILES.split(' '), 'submodule', '--quiet', 'update', '--init');
      const output = await on.work(
        `cd sub && echo x > x.txt && git add x.txt && git commit -qm inside && cd .. && git add sub && git commit -qm bump && echo bumped
git -C sub config core.fsmonitor ${trap}; git -C sub config user.name me
dir=$(git -C sub rev-parse --absolute-git-dir); mkdir -p $dir/hooks; cp ${trap} $dir/hooks/post-index-change; cp ${trap} $dir/hooks/post-commit`,
      );
      assert.match(output, /bumped/);
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'bump');
      const sub = gitIn(join(on.path, 'sub'));
      assert.equal(sub('log', '-1', '--format=%s').trim(), 'inside');
      assert.equal(on.git('status', '--short'), '?? trap.sh\n');
      sub('status');
      sub('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'y');
      assert.equal(existsSync(mark), false, existsSync(mark) ? readFileSync(mark, 'utf8') : '');
      assert.equal(sub('config', 'user.name').trim(), 'me');
      assert.match(on.summary(), /Settings or hooks .*: sub/);
      assert.match(
        on.summary(),
        /^sub: brings in other commits when you run `git submodule update`$/m,
      );
    });

    it('that a turn adds by file:// is told and none any more, and .gitmodules is listed', async (t) => {
      const on = await withSubmodule(t, sandbox);
      const { root } = makeRepository(t);
      await on.work(
        `git ${FROM_FILES} submodule --quiet add file://${root} extra 2>&1; echo x >> a.txt`,
        'failed',
      );
      assert.equal(existsSync(join(on.path, 'extra/.git')), false);
      assert.match(on.summary(), /added repositories to the worktree: extra/);
      assert.match(on.summary(), /^\.gitmodules: brings in other repositories when you run/m);
      assert.match(on.git('status', '--short'), /a\.txt/);
    });

    // As `git lfs install --local` leaves the settings; git-lfs itself is not needed for it.
    it('and files of git-lfs have no filter run by what looks at the leftovers', async (t) => {
      const pointer = (digit: string): string =>
        `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 1\n`;
      const on = await gitScene(t, sandbox, undefined, {
        '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
        'big.bin': pointer('1'),
      });
      const mark = join(temporaryDirectory(t), 'ran');
      const trap = join(on.path, '../trap.sh');
      writeFileSync(trap, `#!/bin/sh\necho x >> ${mark}\ncat\n`, { mode: 0o755 });
      for (const name of ['clean', 'smudge'])
        on.main('config', `filter.lfs.${name}`, `${trap} ${name} -- %f`);
      on.main('config', 'filter.lfs.process', `${trap} filter-process`);
      on.main('config', 'filter.lfs.required', 'true');
      await on.work(
        `printf '%s' '${pointer('2')}' > big.bin; printf '%s' '${pointer('3')}' > new.bin; echo '*.dat filter=lfs' >> .gitattributes
mkdir hid; echo '*' > hid/.gitignore; git init -q hid/r; cp -r hid/r/.git hid/copy.git`,
        'failed',
      );
      assert.equal(existsSync(mark), false);
      assert.match(on.summary(), /added repositories to the worktree: .*hid\/r \(/);
      assert.match(on.summary(), /^\.gitattributes: runs the filters/m);
      const patch = readFileSync(
        join(newestSession(on.test.running, on.test.item), 'diff.patch'),
        'utf8',
      );
      assert.match(patch, /^\+oid sha256:2{64}$[\s\S]*^\+oid sha256:3{64}$/m);
    });

    it('can be checked out in a turn, and is where git keeps such', async (t) => {
      const on = await withSubmodule(t, sandbox);
      const output = await on.work(
        `git ${FROM_FILES} submodule update --init 2>&1 && echo updated; echo x >> a.txt`,
      );
      assert.match(output, /^updated$/m);
      assert.equal(gitIn(join(on.path, 'sub'))('status', '--short'), '');
      assert.equal(on.git('status', '--short'), ' M a.txt\n');
      assert.match(on.git('submodule', 'status'), /^ /);
    });
  });
}
