import assert from 'node:assert/strict';
import fs, {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { diffInto, worktreeChanges } from '../../../../../lib/tools/git/read/diff.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import type { Git, GitWorktree } from '../../../../../lib/tools/git/run/git.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const BINARY = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));

const FILES = {
  'edit.txt': 'one\ntwo\nthree\n',
  'gone.txt': 'to go\n',
  'old name.txt': Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join(''),
  'image.bin': BINARY,
  'tool.sh': '#!/bin/sh\n',
  'crlf.txt': 'a\r\nb\r\n',
  '.gitignore': 'ignored/\n',
};

const make = async (
  t: TestContext,
  files: Record<string, string | Buffer> = FILES,
): Promise<{ git: Git; worktree: GitWorktree; base: string; root: string }> => {
  const made = makeRepository(t, { files });
  const git = testGit(t);
  const worktree = await makeWorktree(t, git, known(made));
  return { git, worktree, base: made.git('rev-parse', 'HEAD').trim(), root: made.root };
};

const changeAll = ({ path }: GitWorktree): void => {
  writeFiles(path, {
    'edit.txt': 'one\n2\nthree\nfour\n',
    'image.bin': Buffer.from(BINARY).reverse(),
    'new/-dash ünï\nname.txt': 'new\n',
    'empty.txt': '',
    'latin1.txt': Buffer.from([0x63, 0xe9, 0x0a]),
    'new.bin': BINARY,
    'crlf.txt': 'a\r\nB\r\n',
    'ignored/x.txt': 'ignored',
  });
  rmSync(join(path, 'gone.txt'));
  renameSync(join(path, 'old name.txt'), join(path, 'new name.txt'));
  chmodSync(join(path, 'tool.sh'), 0o755);
  symlinkSync('edit.txt', join(path, 'link'));
};

// Every file with its mode and bytes, but for git's own.
const content = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(
        (entry) =>
          !entry.isDirectory() &&
          !/(^|\/)(\.git|ignored)(\/|$)/.test(
            join(entry.parentPath, entry.name).slice(root.length),
          ),
      )
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [
          path.slice(root.length),
          `${statSync(path).mode & 0o111} ${readFileSync(path, 'latin1')}`,
        ];
      }),
  );

describe('worktreeChanges where git fails', () => {
  it('names the command of git', async (t) => {
    const { git, worktree, base } = await make(t);
    changeAll(worktree);
    const bin = temporaryDirectory(t);
    const script = `#!/bin/sh\ncase " $* " in *" --numstat "*) exit 3;; esac\nexec ${git.program} "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    const failing = createGit({ env: { PATH: `${bin}:${process.env.PATH}`, HOME: bin } });
    await assert.rejects(worktreeChanges(failing.at(worktree), { base }), /: git diff: failed$/);
  });
});

describe('diff', () => {
  it('is empty where nothing changed', async (t) => {
    const { git, worktree, base } = await make(t);
    assert.deepEqual(await worktreeChanges(git.at(worktree), { base }), {
      patch: Buffer.alloc(0),
      shared: Buffer.alloc(0),
      changed: [],
      left_out: [],
      withheld: [],
      files: 0,
      additions: 0,
      deletions: 0,
    });
  });

  it('is a patch that makes the same files from the base, whatever the change', async (t) => {
    const { git, worktree, base, root } = await make(t);
    changeAll(worktree);
    const {
      patch,
      shared,
      changed,
      left_out: _,
      withheld,
      ...counts
    } = await worktreeChanges(git.at(worktree), { base });
    const file = join(temporaryDirectory(t), 'changes.patch');
    writeFileSync(file, patch);
    gitIn(root)('apply', '--whitespace=nowarn', file);
    assert.deepEqual(content(root), content(worktree.path));
    const text = patch.toString('latin1');
    for (const words of [
      /^rename from old name\.txt$/m,
      /^new mode 100755$/m,
      /^GIT binary patch$/m,
      /^deleted file mode/m,
      /^new file mode 120000$/m,
    ])
      assert.match(text, words);
    assert.doesNotMatch(text, /ignored/);
    assert.deepEqual(counts, { files: 11, additions: 6, deletions: 3 });
    assert.deepEqual([shared, withheld], [patch, []]);
    assert.deepEqual(
      changed
        .map(({ what, path, additions, deletions }) => `${what} ${path} ${additions} ${deletions}`)
        .toSorted(),
      [
        'added "new/-dash ünï\\nname.txt" 1 0',
        'added empty.txt 0 0',
        'added latin1.txt 1 0',
        'added link 1 0',
        'added new.bin null null',
        'changed crlf.txt 1 1',
        'changed edit.txt 2 1',
        'changed image.bin null null',
        'deleted gone.txt 0 1',
        'mode tool.sh 0 0',
        'renamed old name.txt => new name.txt 0 0',
      ],
    );
  });

  it('counts what is committed, staged, unstaged and untracked alike', async (t) => {
    const { git, worktree, base } = await make(t, {
      'a.txt': '1\n',
      'b.txt': '1\n',
      'c.txt': '1\n',
    });
    const operator = gitIn(worktree.path);
    writeFiles(worktree.path, { 'a.txt': 'committed\n' });
    operator('commit', '--quiet', '-am', 'a');
    writeFiles(worktree.path, { 'b.txt': 'staged\n' });
    operator('add', 'b.txt');
    writeFiles(worktree.path, { 'c.txt': 'unstaged\n', 'd.txt': 'untracked\n' });
    const { files, additions, deletions } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual([files, additions, deletions], [4, 4, 3]);
  });

  it('tells a change of type from one of permissions', async (t) => {
    const { git, worktree } = await make(t);
    const at = (name: string): string => join(worktree.path, name);
    symlinkSync('edit.txt', at('link'));
    const operator = gitIn(worktree.path);
    operator('add', '--all');
    operator('commit', '--quiet', '-m', 'link');
    rmSync(at('link'));
    rmSync(at('gone.txt'));
    symlinkSync('edit.txt', at('gone.txt'));
    writeFiles(worktree.path, { link: 'a file now\n' });
    chmodSync(at('tool.sh'), 0o755);
    const { changed } = await worktreeChanges(git.at(worktree), { base: 'HEAD' });
    const told = changed.map(({ what, path }) => `${what} ${path}`);
    assert.deepEqual(told.toSorted(), ['mode tool.sh', 'type gone.txt', 'type link']);
  });

  it('touches neither the index nor the files', async (t) => {
    const { git, worktree, base } = await make(t);
    changeAll(worktree);
    const index = readFileSync(join(worktree.git_dir, 'index'));
    await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual(readFileSync(join(worktree.git_dir, 'index')), index);
    assert.deepEqual(
      readdirSync(worktree.git_dir).filter((name) => name.endsWith('.lock')),
      [],
    );
    assert.match(gitIn(worktree.path)('status', '--short'), /\?\? empty\.txt/);
  });

  it('looks at files that the index says not to look at', async (t) => {
    const { git, worktree, base } = await make(t);
    gitIn(worktree.path)('update-index', '--assume-unchanged', 'edit.txt', 'gone.txt');
    gitIn(worktree.path)('update-index', '--skip-worktree', 'tool.sh');
    writeFiles(worktree.path, { 'edit.txt': 'hidden\n', 'tool.sh': 'hidden\n' });
    rmSync(join(worktree.path, 'gone.txt'));
    assert.equal((await worktreeChanges(git.at(worktree), { base })).files, 3);
  });

  it("is written in one form, whatever the operator's settings for reading diffs are", async (t) => {
    const { git, worktree, base, root } = await make(t);
    changeAll(worktree);
    const { patch } = await worktreeChanges(git.at(worktree), { base });
    for (const [key, value] of Object.entries({
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'color.ui': 'always',
      'diff.context': '0',
      'diff.renames': 'false',
      'diff.external': '/bin/false',
      'diff.orderFile': '/etc/passwd',
    })) {
      gitIn(root)('config', key, value);
    }
    assert.equal(
      (await worktreeChanges(git.at(worktree), { base })).patch.toString('latin1'),
      patch.toString('latin1'),
    );
  });

  it('shows text as text, whatever attributes of the worktree call it, and binary files as such', async (t) => {
    const { git, worktree, base, root } = await make(t);
    changeAll(worktree);
    const plain = await worktreeChanges(git.at(worktree), { base });
    writeFiles(worktree.path, {
      'new/.gitattributes': '* binary\n',
      '.gitattributes': '[attr]odd -diff\n* -diff\n*.txt binary\ncrlf.txt odd\n',
    });
    const { patch, changed } = await worktreeChanges(git.at(worktree), { base });
    const asTold = ({ path, additions, deletions }: (typeof changed)[number]) =>
      `${path} ${additions} ${deletions}`;
    assert.deepEqual(
      changed.map(asTold).filter((line) => !line.includes('gitattributes')),
      plain.changed.map(asTold),
    );
    assert.match(patch.toString('latin1'), /^GIT binary patch$/m);
    const file = join(temporaryDirectory(t), 'changes.patch');
    writeFileSync(file, patch);
    gitIn(root)('apply', '--whitespace=nowarn', file);
    assert.deepEqual(content(root), content(worktree.path));
  });

  it('reads no file of forty gigabytes, and says that it is left out', async (t) => {
    const { git, worktree, base } = await make(t);
    const before = (await worktreeChanges(git.at(worktree), { base })).files;
    writeFiles(worktree.path, { 'sparse.img': '', 'beside.txt': 'read\n' });
    truncateSync(join(worktree.path, 'sparse.img'), 40 * 1024 ** 3);
    const { files, left_out, patch } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual([files - before, left_out], [1, ['sparse.img']]);
    assert.match(patch.toString('latin1'), /beside\.txt/);
  });

  it('reads no tracked file of two gigabytes either, changed or added, and says that it is left out', async (t) => {
    const { git, worktree, base } = await make(t, { 'a.txt': 'a\n', 'd/b.txt': 'b\n' });
    const inside = gitIn(worktree.path);
    writeFiles(worktree.path, { 'made.txt': 'm\n', 'staged.txt': 's\n', 'beside.txt': 'read\n' });
    inside('add', 'made.txt');
    inside('commit', '--quiet', '--message', 'made');
    inside('add', 'staged.txt');
    writeFiles(worktree.path, { 'd/b.txt': 'c\n' });
    const LARGE = ['a.txt', 'made.txt', 'staged.txt'];
    for (const name of LARGE) truncateSync(join(worktree.path, name), 2 * 1024 ** 3);
    const { changed, left_out, patch } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual(left_out.toSorted(), LARGE);
    assert.deepEqual(
      changed.map(({ path, what }) => `${what} ${path}`),
      ['added beside.txt', 'changed d/b.txt'],
    );
    const file = join(temporaryDirectory(t), 'whole.patch');
    const into = openSync(file, 'w');
    await diffInto(git.at(worktree), { base }, into).finally(() => closeSync(into));
    assert.deepEqual(readFileSync(file), patch);
    assert.equal(
      inside('status', '--porcelain'),
      ' M a.txt\n M d/b.txt\n M made.txt\nAM staged.txt\n?? beside.txt\n',
    );
  });

  it("leaves it to the operator's own attributes what is binary, and to settings by a relative path how lines end", async (t) => {
    const { git, worktree, base, root } = await make(t);
    writeFiles(join(root, '.git'), {
      'info/attributes': 'edit.txt -diff',
      more: '[core]\n\tautocrlf = true\n',
    });
    gitIn(root)('config', 'include.path', 'more');
    writeFiles(worktree.path, { 'edit.txt': '1\n', 'tool.sh': '#!/bin/sh\r\n' });
    const { changed } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual(
      changed.map(({ path, additions }) => [path, additions]),
      [['edit.txt', null]],
    );
  });

  it('names files whose names are not UTF-8 as git quotes them, and no other file', async (t) => {
    const { git, worktree, base, root } = await make(t);
    const named = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from(name, 'latin1')]);
    writeFileSync(named('caf\xe9.txt'), 'a\n');
    mkdirSync(named('d\xe9p'));
    gitIn(worktree.path)('init', '--quiet', '--bare', 'bare');
    renameSync(join(worktree.path, 'bare'), named('d\xe9p/.git'));
    gitIn(worktree.path)('mv', 'edit.txt', 'é.txt');
    const { patch, changed, left_out } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual(
      changed.map(({ path }) => path),
      ['"caf\\351.txt"', 'edit.txt => é.txt'],
    );
    assert.deepEqual(left_out, ['"d\\351p/"']);
    assert.match(patch.toString('latin1'), /^diff --git "a\/caf\\351\.txt" "b\/caf\\351\.txt"$/m);
    const file = join(temporaryDirectory(t), 'changes.patch');
    writeFileSync(file, patch);
    gitIn(root)('apply', file);
    assert.ok(readdirSync(root, 'latin1').includes('caf\xe9.txt'));
  });

  it('shows what a conflicted file holds now', async (t) => {
    const { git, worktree, base, root } = await make(t, { 'a.txt': '0\n' });
    for (const [at, text] of [
      [root, 'theirs\n'],
      [worktree.path, 'ours\n'],
    ] as const) {
      writeFiles(at, { 'a.txt': text });
      gitIn(at)('commit', '--quiet', '-am', text);
    }
    assert.throws(() => gitIn(worktree.path)('merge', 'main'));
    const text = (await worktreeChanges(git.at(worktree), { base })).patch.toString();
    assert.match(text, /^\+<<<<<<< HEAD$/m);
    assert.match(gitIn(worktree.path)('status', '--short'), /UU a\.txt/);
  });

  it('goes on beside an index.lock and an empty repository inside the worktree', async (t) => {
    const { git, worktree, base } = await make(t);
    writeFileSync(join(worktree.git_dir, 'index.lock'), '');
    mkdirSync(join(worktree.path, 'inner'));
    gitIn(join(worktree.path, 'inner'))('init', '--quiet');
    writeFiles(worktree.path, { 'new.txt': 'n\n' });
    const { files, left_out } = await worktreeChanges(git.at(worktree), { base });
    assert.deepEqual([files, left_out], [1, ['inner/']]);
  });

  it('leaves out what is deleted between the listing and the diff', async (t) => {
    const { git, worktree, base } = await make(t);
    writeFiles(worktree.path, { 'stays.txt': 'new\n', 'vanishes.txt': 'new\n' });
    const { lstatSync } = fs;
    const vanishes = join(worktree.path, 'vanishes.txt');
    // Its size is asked for once it is listed, and before git is given its name.
    const looked = t.mock.method(fs, 'lstatSync', (path: string | Buffer) => {
      const found = lstatSync(path);
      if (`${path}` === vanishes) unlinkSync(path);
      return found;
    });
    syncBuiltinESMExports();
    const { changed } = await worktreeChanges(git.at(worktree), { base }).finally(() => {
      looked.mock.restore();
      syncBuiltinESMExports();
    });
    assert.ok(!existsSync(vanishes));
    assert.deepEqual(
      changed.map(({ what, path }) => `${what} ${path}`),
      ['added stays.txt'],
    );
  });

  it('says that the base is no longer there', async (t) => {
    const { git, worktree } = await make(t);
    await assert.rejects(
      worktreeChanges(git.at(worktree), { base: 'f'.repeat(40) }),
      /no longer has the commit/,
    );
  });
});
