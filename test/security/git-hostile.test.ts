/** What agents put past git: broken and false objects, repositories inside the worktree, and what else git would run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { removeTreeSync } from '../../store/fs/remove.ts';
import type { Case } from '../../store/records/case.ts';
import { gitScene, pictureOf, type Scene, skipOf } from '../helpers/git-scene.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';

const canary = (t: TestContext): { trap: string; mark: string } => {
  const root = temporaryDirectory(t);
  const [trap, mark] = [join(root, 'trap'), join(root, 'ran')];
  writeFileSync(trap, `#!/bin/sh\necho "$0 $PWD" >> ${mark}\ncat\n`, { mode: 0o755 });
  return { trap, mark };
};

const unchanged = (on: Scene, before: Record<string, string>): void => {
  const now = pictureOf(on);
  assert.deepEqual({ ...now, objects: '' }, { ...before, objects: '' });
};

const kept = ({ test }: Scene): string[] => {
  const { repositories } = test.running.service.store.layout;
  return readdirSync(repositories).filter((name) => !name.endsWith('.json'));
};

// What is looked at afterwards is the same with a sandbox: there the most telling are enough.
// Longer than any path that the system takes.
const tooDeep = (dir: string): string =>
  `node -e 'process.chdir(process.argv[1]);for(let i=0;i<60;i++){const n="d".repeat(100);fs.mkdirSync(n);process.chdir(n)};fs.writeFileSync("f","")' "${dir}"`;

for (const sandbox of ['auto', 'off'] as const) {
  describe(`objects (sandbox: ${sandbox})`, { skip: skipOf(sandbox) }, () => {
    it('that were deleted are those of the turn alone, and what is left of it is kept and told', async (t) => {
      const on = await gitScene(t, sandbox);
      const before = pictureOf(on);
      const head = on.git('rev-parse', 'HEAD');
      await on.work(
        'git commit -q --allow-empty -m mine; rm -rf "$(git rev-parse --git-dir)"/objects/??; rm -rf $(git rev-parse --git-common-dir)/objects/pack/*',
        'failed',
      );
      unchanged(on, before);
      assert.equal(on.git('rev-parse', 'HEAD'), head);
      const [place = ''] = kept(on);
      assert.match(place, /^[0-9a-f-]{36}-2/);
      const told = await on.told();
      assert.ok(
        told.some(
          ({ code, message }) => code === 'repository_kept' && String(message).includes(place),
        ),
        JSON.stringify(told),
      );
      const { layout } = on.test.running.service.store;
      assert.ok(existsSync(join(layout.repositories, place, 'git', 'HEAD')));
    });

    if (sandbox === 'auto') return;

    it('that are false under a known id reach nobody', async (t) => {
      const on = await gitScene(t, sandbox);
      const blob = on.main('rev-parse', 'main:a.txt').trim();
      const script = `id=${blob}
dir="$(git rev-parse --git-dir)/objects/$(echo $id | cut -c1-2)"; mkdir -p "$dir"
false=$(printf 'evil\\n' | git hash-object -w --stdin)
cp "$(git rev-parse --git-dir)/objects/$(echo $false | cut -c1-2)/$(echo $false | cut -c3-)" "$dir/$(echo $id | cut -c3-)"
echo b > b.txt; git add b.txt; git commit -qm mine`;
      await on.work(script);
      assert.equal(on.main('cat-file', 'blob', blob), 'one\n');
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
      const { body: other } = await on.test.running.call<Case>('POST', '/cases', {
        title: 'B',
        type: 'bug',
      });
      const made = await on.test.running.call<{ path: string }>('POST', '/api/worktrees', {
        case_id: other.id,
      });
      assert.equal(readFileSync(join(made.body.path, 'a.txt'), 'utf8'), 'one\n');
      on.main('fsck', '--full', '--strict');
    });

    it('beside files that git cannot name or reach: they are told, and never removed', async (t) => {
      const on = await gitScene(t, sandbox);
      await on.work(
        `echo good > good.txt; echo p > 'git~1'; mkdir -p src/.GIT; echo p > src/.GIT/payload.sh; ln -s good.txt .gitmodules; echo q > src/ok.txt`,
      );
      const names = ['.gitmodules', 'git~1', 'src/.GIT/payload.sh'];
      assert.match(
        on.summary(),
        /Not in the patch[\s\S]*\n\.gitmodules\ngit~1\nsrc\/\.GIT\/payload\.sh\n/,
      );
      assert.equal(on.git('status', '--short').match(/^\?\?/gm)?.length, 4);
      const { call } = on.test.running;
      const remove = (force: boolean) =>
        call<{ code: string; detail: string; files: string[] }>(
          'DELETE',
          `/api/cases/${on.test.item.id}/worktree?force=${force}`,
        );
      for (const force of [false, true]) {
        const { status, body } = await remove(force);
        assert.deepEqual([status, body.code], [409, 'work_would_be_lost']);
        assert.deepEqual(body.files.toSorted(), names);
      }
      const place = on.git('rev-parse', '--show-toplevel').trim();
      for (const name of names) rmSync(join(place, name));
      execFileSync('sh', ['-c', tooDeep(join(place, 'src'))]);
      const { status, body } = await remove(true);
      assert.deepEqual([status, body.code], [409, 'work_would_be_lost'], JSON.stringify(body));
      assert.match(body.detail, /could not open directory 'src\/ddd/);
      removeTreeSync(join(place, 'src'));
    });

    it('that cannot be removed by their paths keep no work from being taken in', async (t) => {
      const on = await gitScene(t, sandbox);
      const deep = tooDeep('$(git rev-parse --git-common-dir)/objects');
      const output = await on.work(
        `echo two >> a.txt; git commit -qam mine; ${deep}; d="$(git rev-parse --git-common-dir)/objects/zz"; mkdir "$d"; echo s > "$d/f"; chmod 000 "$d"; echo made`,
      );
      assert.match(output, /made/);
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
      const { repositories, trash } = on.test.running.service.store.layout;
      assert.deepEqual([readdirSync(repositories), readdirSync(trash)], [[], []]);
      assert.deepEqual(await on.told(), []);
    });

    it('and refs that are no such things, links and pipes, hold nobody up', async (t) => {
      const on = await gitScene(t, sandbox);
      const before = pictureOf(on);
      await on.work(
        `git commit -q --allow-empty -m mine; cd "$(git rev-parse --git-dir)"
ln -s /etc/passwd refs/heads/link; mkfifo refs/heads/pipe; ln -s / refs/tags/root; echo 'ref: refs/heads/main' > refs/heads/sym
rm -rf logs; ln -s /etc logs; mkfifo MERGE_HEAD; printf 'x\\nupdate refs/heads/main HEAD\\n' > 'refs/heads/a b'; mkfifo objects/pack/pack-1.pack
echo nonsense > index; mkdir -p commondir`,
      );
      unchanged(on, before);
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'mine');
      assert.equal(on.git('status', '--short'), '');
      assert.ok(
        (await on.told()).some(({ message }) =>
          /index of the turn cannot be read/.test(String(message)),
        ),
      );
    });
  });

  describe(`a repository inside the worktree (sandbox: ${sandbox})`, {
    skip: skipOf(sandbox),
  }, () => {
    it('behind a gitlink holds up the session, and is none any more', async (t) => {
      const on = await gitScene(t, sandbox);
      const { trap, mark } = canary(t);
      const nest = `git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor ${trap}`;
      await on.work(
        `${nest}; git add sub; echo '* filter=evil diff=evil' > .gitattributes; echo x >> a.txt`,
        'failed',
      );
      assert.match(on.summary(), /The turn added repositories to the worktree: .*\bsub \(/);
      on.git('status', '--short');
      on.git('diff');
      gitIn(join(on.path, 'sub'))('status');
      assert.equal(existsSync(mark), false, existsSync(mark) ? readFileSync(mark, 'utf8') : '');
      assert.equal(on.git('ls-files', '--stage', 'sub'), '');
      const recovered = join(on.test.running.workspace, on.test.item.path, 'recovered');
      const [place = ''] = readdirSync(recovered);
      assert.deepEqual(readdirSync(join(recovered, place)), ['sub.git-directory']);
      assert.match(
        readFileSync(join(recovered, place, 'sub.git-directory/config.disarmed'), 'utf8'),
        /trap/,
      );
    });

    it('that was there has no settings or hooks by a link', async (t) => {
      const on = await gitScene(t, sandbox);
      const { trap, mark } = canary(t);
      mkdirSync(join(on.path, 'mine'));
      gitIn(join(on.path, 'mine'))('init', '-q');
      await on.work(
        `mv mine/.git/config conf; git config -f conf core.fsmonitor ${trap}; ln -s ../../conf mine/.git/config; rm -rf mine/.git/hooks; mkdir hooks; cp ${trap} hooks/post-index-change; ln -s ../../hooks mine/.git/hooks`,
      );
      gitIn(join(on.path, 'mine'))('status');
      gitIn(join(on.path, 'mine'))('add', '-A');
      assert.equal(existsSync(mark), false);
      assert.match(on.summary(), /Settings or hooks of repositories .*: mine/);
    });

    if (sandbox === 'auto') return;

    it('that is committed, or only lies there, is found as well', async (t) => {
      const on = await gitScene(t, sandbox);
      const nest = (name: string) =>
        `git init -q ${name}; git -C ${name} commit -q --allow-empty -m x`;
      await on.work(
        `${nest('sub')}; git add sub; git commit -qm linked; ${nest('deep/er')}`,
        'failed',
      );
      assert.match(
        on.summary(),
        /added repositories to the worktree: sub \(its .*, deep\/er \(its/,
      );
      assert.equal(
        existsSync(join(on.path, 'sub/.git')) || existsSync(join(on.path, 'deep/er/.git')),
        false,
      );
      assert.equal(on.git('log', '-1', '--format=%s').trim(), 'linked');
    });

    it('that has no .git of its own is found, too', async (t) => {
      const on = await gitScene(t, sandbox);
      const { trap, mark } = canary(t);
      await on.work(
        `git init -q --bare deep/er; git -C deep/er config core.bare false; git -C deep/er config core.worktree .; git -C deep/er config core.fsmonitor ${trap}; cp -r deep/er two; git init -q two`,
        'failed',
      );
      assert.match(
        on.summary(),
        /added repositories to the worktree: two \(its .*, deep\/er \(its/,
      );
      assert.equal(existsSync(join(on.path, 'two')), false);
      mkdirSync(join(on.path, 'deep/er'), { recursive: true });
      gitIn(join(on.path, 'deep/er'))('status');
      assert.equal(existsSync(mark), false);
    });

    const SUB = `git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor`;

    // What is no repository of anybody, and a gitlink of the base where one may be put.
    const linked = async (t: TestContext): Promise<Scene> => {
      const on = await gitScene(t, sandbox);
      const id = on.git('rev-parse', 'HEAD').trim();
      on.git('update-index', '--add', '--cacheinfo', `160000,${id},sub`);
      on.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'linked');
      mkdirSync(join(on.path, 'sub'), { recursive: true });
      return on;
    };

    for (const [what, script, end] of [
      ['beside one that cannot be moved', 'git init -q aa; chmod 555 aa aa/.git', 'failed'],
      ['beside one with two names', 'git init -q aa; ln -s aa al; X', 'failed'],
      ['beside one with a long name', `mkdir $L; git init -q $L/$L`, 'failed'],
      ['in a directory that cannot be read', 'chmod 311 .', 'failed'],
    ] as const)
      it(`at a gitlink of the base is none any more, ${what}`, async (t) => {
        const on = await linked(t);
        const { trap, mark } = canary(t);
        const stage = 'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),';
        await on.work(
          `${SUB} ${trap}\nL=$(printf 'a%.0s' $(seq 150))\n${script.replace('X', `${stage}al; ${stage}aa`)}`,
          end,
        );
        on.git('status', '--short');
        assert.equal(existsSync(mark), false, on.summary());
        assert.match(on.summary(), /added repositories to the worktree: .*\bsub \(its/);
      });

    for (const [what, script] of [
      ['a file that leads elsewhere', `rm -rf mine/.git; echo 'gitdir: ../hid' > mine/.git`],
      ['a link', 'rm -rf mine/.git; ln -s ../hid mine/.git'],
    ] as const)
      it(`that was there and is ${what} is none any more`, async (t) => {
        const on = await gitScene(t, sandbox);
        const { trap, mark } = canary(t);
        mkdirSync(join(on.path, 'mine'));
        gitIn(join(on.path, 'mine'))('init', '-q');
        await on.work(
          `git init -q --bare hid; git -C hid config core.bare false; git -C hid config core.worktree ../mine; git -C hid config core.fsmonitor ${trap}; ${script}`,
          'failed',
        );
        assert.equal(existsSync(join(on.path, 'mine/.git')), false);
        gitIn(join(on.path, 'mine'))('status');
        assert.equal(existsSync(mark), false);
      });

    it('never blocks where the base ignores it, and one that was there keeps its settings', async (t) => {
      const on = await gitScene(t, sandbox, undefined, { '.gitignore': 'fixtures/\n' });
      const { trap } = canary(t);
      mkdirSync(join(on.path, 'mine'));
      gitIn(join(on.path, 'mine'))('init', '-q');
      const settings = readFileSync(join(on.path, 'mine/.git/config'), 'utf8');
      await on.work(
        `git init -q fixtures/one; git -C mine config core.fsmonitor ${trap}; echo x >> a.txt`,
      );
      assert.ok(existsSync(join(on.path, 'fixtures/one/.git/HEAD')));
      assert.equal(
        readFileSync(join(on.path, 'mine/.git/config'), 'utf8').includes('fsmonitor'),
        false,
      );
      assert.ok(settings.includes('[core]'));
      assert.match(on.summary(), /Settings or hooks of repositories .*: mine/);
    });
  });
}

describe('settings of the turn', { skip: skipOf('auto') }, () => {
  it("cannot be written, moved or replaced by a sandboxed agent, nor can the operator's", async (t) => {
    const on = await gitScene(t, 'auto');
    const before = pictureOf(on);
    const output = await on.work(
      `d=$(git rev-parse --git-dir)
for f in $d/config $d/hooks/x $d/objects/info/alternates .git $main/.git/config $main/.git/refs/heads/main $main/.git/objects/x $main/.git/worktrees/x $main/.git/logs/HEAD $main/.git/config.worktree; do echo x >> $f && echo WROTE $f; done
git config user.name x && echo WROTE; mv $d/config $d/c && echo WROTE; rm -f .git && echo WROTE; mv $d/hooks $d/h && echo WROTE; rm -rf $d/objects/info && echo WROTE
mv $d/objects/info $d/i && echo WROTE; mv $d/objects $d/o && echo WROTE; rm -f $d/objects/info/alternates && echo WROTE; echo x > x; mv x $d/objects/info/alternates && echo WROTE; rm x
echo x >> a.txt`,
    );
    assert.doesNotMatch(output, /WROTE/);
    unchanged(on, before);
  });
});
