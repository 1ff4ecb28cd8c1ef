/** Files that an agent leaves so that nobody sees them, or that another user could be the operator by. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { getWorktree } from '../../lib/code/worktrees/read.ts';
import { makeReadable } from '../../lib/tools/git/read/working-files.ts';
import { gitScene, type Scene, skipOf } from '../helpers/git-scene.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';

const patchOf = ({ test }: Scene): string =>
  readFileSync(join(newestSession(test.running, test.item), 'diff.patch'), 'latin1');

for (const sandbox of ['auto', 'off'] as const)
  describe(`what an agent leaves (sandbox: ${sandbox})`, { skip: skipOf(sandbox) }, () => {
    const elsewhere = async (t: TestContext): Promise<Scene> => {
      const root = temporaryDirectory(t);
      chmodSync(root, 0o755);
      return gitScene(t, sandbox, `worktrees:\n  root: ${root}\n  commit: never`);
    };

    it('runs as nobody else for who starts it, where others can enter', async (t) => {
      const on = await elsewhere(t);
      writeFileSync(join(on.path, '.gitignore'), 'ignored/\n');
      await on.work(
        'cp /bin/true su; chmod 6755 su; mkdir -p ignored/deep; chmod 2777 ignored; cp su ignored/deep; chmod 4711 ignored/deep/su; chmod 111 ignored/deep; ln -s /bin/su link',
      );
      const modeOf = (name: string): number => lstatSync(join(on.path, name)).mode & 0o7777;
      assert.deepEqual([modeOf('su'), modeOf('ignored/deep/su')], [0o755, 0o711]);
      assert.equal(modeOf('ignored') & 0o2000, 0o2000);
      assert.match(
        on.summary(),
        /The set-uid and set-gid bits were removed from files: ignored\/deep\/su, su\./,
      );
    });

    // What is looked at afterwards is the same with a sandbox.
    if (sandbox === 'auto') return;

    it('is in the diff as text, whatever its .gitattributes call it', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work(
        `echo evil >> a.txt; echo '* binary' > .gitattributes; printf 'caf\\351' | xargs touch`,
      );
      assert.match(patchOf(on), /^\+evil$/m);
      assert.match(on.summary(), /a\.txt {2}\+1 −0/);
      assert.match(on.summary(), /added {4}"caf\\351"/);
      assert.doesNotMatch(on.summary(), /\ufffd/);
    });

    it('is named where `ident` of its .gitattributes hides text from every diff', async (t) => {
      const on = await gitScene(t, sandbox);
      const evil = String.raw`printf '/*$Id: */evil()/* $*/\n' > x.js`;
      await on.work(`echo '* ident' > .gitattributes; ${evil}; echo 'It is $Id$' > y.js`);
      assert.match(patchOf(on), /^\+\/\*\$Id\$\*\/$/m);
      assert.match(on.summary(), /`ident` in \.gitattributes hides\):\n\n```text\nx\.js\n```/);
      assert.match(String((await on.told())[0]?.message), /^Not in diff\.patch: x\.js\./);
    });

    it('is named where a file of the base is ignored, and in the worktree alone', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work('echo a.txt > .gitignore; git rm -q --cached a.txt; echo evil >> a.txt');
      assert.match(on.summary(), /^deleted {2}a\.txt/m);
      assert.match(on.summary(), /from the index alone, .*\n\n```text\na\.txt\n```/);
      await on.work('git commit -qam gone');
      assert.match(on.summary(), /from the index alone, .*\n\n```text\na\.txt\n```/);
    });

    it('is a told change of type where a file is a pipe, a socket or a device now, and the rest is there', async (t) => {
      const on = await gitScene(t, sandbox, undefined, { 'b.txt': 'b\n', 'c.txt': 'c\n' });
      await on.work(
        `rm a.txt b.txt; mkfifo a.txt; perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "b.txt", Listen => 1)'; echo more >> c.txt`,
      );
      assert.match(patchOf(on), /^\+more$/m);
      assert.match(patchOf(on), /^diff --git a\/a\.txt b\/a\.txt\ndeleted file mode 100644$/m);
      assert.match(on.summary(), /^type {5}a\.txt {2}\+0 −1 {2}now a named pipe$/m);
      assert.match(on.summary(), /^type {5}b\.txt {2}\+0 −1 {2}now a socket$/m);
      assert.match(
        on.summary(),
        /no longer regular files: a\.txt \(named pipe\), b\.txt \(socket\)/,
      );
      const { call, workspace } = on.test.running;
      const at = `/api/cases/${on.test.item.id}/worktree?force=true`;
      assert.equal((await call('DELETE', at)).status, 204);
      const recovered = join(workspace, on.test.item.path, 'recovered');
      const [name = ''] = readdirSync(recovered).filter((each) => each.endsWith('.patch'));
      assert.match(readFileSync(join(recovered, name), 'utf8'), /^\+more$/m);
    });

    it('holds up no git by a pipe that has the name of a file of rules', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work('mkdir lib; mkfifo lib/.gitignore .gitattributes lib/pipe; echo x > lib/x.txt');
      assert.equal(on.git('status', '--short', '--untracked-files=all'), '?? lib/x.txt\n');
      assert.match(
        on.summary(),
        /were removed, because git would block .*: \.gitattributes, lib\/\.gitignore\./,
      );
      assert.ok(lstatSync(join(on.path, 'lib/pipe')).isFIFO());
    });

    it('is in the diff where nobody could read it, and that is told', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work('echo evil >> a.txt; echo more > new.txt; chmod 000 a.txt new.txt');
      assert.match(patchOf(on), /^\+evil$[\s\S]*^\+more$/m);
      // Who is root reads everything, and nothing has to be opened.
      if (process.getuid?.() === 0) return;
      assert.match(on.summary(), /made readable for their owner: a\.txt, new\.txt/);
    });

    it('arms no repository at a name that is not UTF-8, ignored or not', async (t) => {
      const on = await gitScene(t, sandbox);
      const root = temporaryDirectory(t);
      const [trap, mark] = [join(root, 'trap'), join(root, 'ran')];
      writeFileSync(trap, `#!/bin/sh\necho ran >> ${mark}\n`, { mode: 0o755 });
      const arm = `git init -q "$n"; git -C "$n" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git -C "$n" config core.fsmonitor ${trap}`;
      await on.work(
        `n=$(printf 'caf\\351'); ${arm}; n=deep/"$n"; mkdir deep; ${arm}
n=ignored/$(printf '\\377'); ${arm}; git add "$n"; echo ignored/ > .gitignore`,
        'failed',
      );
      const git = gitIn(on.path);
      git('status', '--short');
      for (const name of ['caf\\351', 'deep/caf\\351', 'ignored/\\377'])
        execFileSync('sh', ['-c', `cd "$(printf '${name}')" && git status --short`], {
          cwd: on.path,
        });
      assert.equal(existsSync(mark), false);
      assert.match(on.summary(), /"caf\\351" \(its git directory is in [^ ]*recovered/);
      const recovered = join(on.test.workspace, on.test.item.path, 'recovered');
      const [place = ''] = readdirSync(recovered);
      assert.match(
        readFileSync(join(recovered, place, '"caf\\351".git-directory/config.disarmed'), 'utf8'),
        /trap/,
      );
    });

    it('is set-uid neither in recovered/ nor among the large files of the repository', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work(
        `git init -q sub; cp /bin/true sub/.git/su; chmod 4755 sub/.git/su
id=$(sha256sum /bin/true | cut -c1-64); d="$(git rev-parse --git-dir)/lfs/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-4)"; mkdir -p "$d"; cp /bin/true "$d/$id"; chmod 4755 "$d/$id"`,
        'failed',
      );
      const { workspace, repository } = on.test.running;
      const places = [
        join(workspace, on.test.item.path, 'recovered'),
        join(repository.root, '.git/lfs'),
      ];
      for (const root of places) {
        const files = (readdirSync(root, { recursive: true }) as string[]).map((name) =>
          lstatSync(join(root, name)),
        );
        assert.ok(files.some((file) => file.isFile() && file.size > 10_000));
        assert.deepEqual(
          files.filter((file) => file.isFile() && (file.mode & 0o6000) !== 0),
          [],
        );
      }
    });
  });

describe('makeReadable', () => {
  it('opens files to their owner that git looks into, and no others', async (t) => {
    const on = await gitScene(t, 'off');
    const { service } = on.test.running;
    mkdirSync(join(on.path, 'ignored'));
    for (const name of ['.gitignore', 'new.txt', 'ignored/x', 'seen.txt'])
      writeFileSync(join(on.path, name), 'ignored/\n');
    for (const name of ['a.txt', 'new.txt', 'ignored/x']) chmodSync(join(on.path, name), 0o000);
    const opened = await makeReadable(service.git.at(getWorktree(service.store, on.test.item.id)));
    assert.deepEqual(opened.toSorted(), ['a.txt', 'new.txt']);
    assert.equal(lstatSync(join(on.path, 'ignored/x')).mode & 0o777, 0);
    assert.equal(lstatSync(join(on.path, 'a.txt')).mode & 0o777, 0o400);
  });
});
