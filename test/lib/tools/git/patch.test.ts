/** The patch of a session, applied to its base in a fresh clone: the same tree, byte for byte and mode for mode. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { worktreeChanges } from '../../../../lib/tools/git/read/diff.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../helpers/repository.ts';

const BINARY = Buffer.from(Array.from({ length: 2048 }, (_, at) => (at * 7) % 256));
const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join('');
const POINTER = ['update-index', '--add', '--cacheinfo'];

type Change = (tree: string, git: ReturnType<typeof gitIn>) => void;

const write =
  (name: string, content: string | Buffer): Change =>
  (tree) =>
    writeFiles(tree, { [name]: content });

/** What an agent may do to files, each beside all the others. */
const CHANGES: Record<string, Change> = {
  'a new file': write('new.txt', 'new\n'),
  'a new file without a newline at its end': write('open.txt', 'no end'),
  'an end of file that lost its newline': write('closed.txt', 'one\ntwo'),
  'an empty file': write('empty.txt', ''),
  'a file that was emptied': write('emptied.txt', ''),
  'a new executable': (tree) => writeFileSync(join(tree, 'run'), '#!/bin/sh\n', { mode: 0o755 }),
  'a mode': (tree) => chmodSync(join(tree, 'tool.sh'), 0o755),
  'a mode and its text': (tree) => {
    writeFileSync(join(tree, 'both.sh'), '#!/bin/sh\necho\n');
    chmodSync(join(tree, 'both.sh'), 0o755);
  },
  'a deleted file': (tree) => rmSync(join(tree, 'gone.txt')),
  'a deleted binary file': (tree) => rmSync(join(tree, 'gone.bin')),
  'a changed binary file': write('image.bin', Buffer.from(BINARY).reverse()),
  'a new binary file': write('new.bin', BINARY.subarray(7, 600)),
  'a renamed file': (tree) => renameSync(join(tree, 'old name.txt'), join(tree, 'new name.txt')),
  'a renamed file that was changed': (tree) => {
    rmSync(join(tree, 'moved.txt'));
    writeFiles(tree, { 'deep/er/moved (50%).txt': `${LINES}and more\n` });
  },
  'a link': (tree) => symlinkSync('nowhere at all', join(tree, 'link')),
  'a link that leads elsewhere now': (tree) => {
    rmSync(join(tree, 'points'));
    symlinkSync('gone.txt', join(tree, 'points'));
  },
  'a file that became a link': (tree) => {
    rmSync(join(tree, 'typed.txt'));
    symlinkSync('new.txt', join(tree, 'typed.txt'));
  },
  'a file that became a directory': (tree) => {
    rmSync(join(tree, 'folder'));
    writeFiles(tree, { 'folder/in it.txt': 'x\n' });
  },
  'a name with a leading dash': write('-rf', 'dash\n'),
  'names with spaces, quotes, an arrow': write(' "a" => b\t.txt', 'odd\n'),
  'a name in Unicode': write('ünï–😀.txt', 'ü\n'),
  'a name with a newline': write('two\nlines.txt', 'n\n'),
  'a name in Latin-1': (tree) =>
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/caf`), Buffer.from([0xe9])]), 'l\n'),
  'text in Latin-1, and lines that end in CRLF': write(
    'latin.txt',
    Buffer.from('caf\xe9\r\n', 'latin1'),
  ),
  'what looks like a patch': write('looks.patch', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n\n\n'),
  'a pointer to another commit of a submodule': (_tree, git) =>
    git(...POINTER, `160000,${'2'.repeat(40)},sub`),
  'a new submodule': (tree, git) => {
    mkdirSync(join(tree, 'other-sub'));
    git(...POINTER, `160000,${'3'.repeat(40)},other-sub`);
  },
  'a commit': (tree, git) => {
    writeFiles(tree, { 'committed.txt': 'committed\n' });
    git('add', 'committed.txt');
    git('commit', '--quiet', '--message', 'by the agent');
  },
  'a change on top of a commit': write('committed.txt', 'committed\nand changed\n'),
};

const BASE = {
  'closed.txt': 'one\ntwo\n',
  'emptied.txt': 'full\n',
  'tool.sh': '#!/bin/sh\n',
  'both.sh': '#!/bin/sh\n',
  'gone.txt': 'to go\n',
  'gone.bin': BINARY,
  'image.bin': BINARY,
  'old name.txt': LINES,
  'moved.txt': `first\n${LINES}`,
  'typed.txt': 'a file\n',
  folder: 'a file\n',
};

describe('the patch of everything that changed', () => {
  it('makes the same tree from the base in a fresh clone', async (t) => {
    const made = makeRepository(t, { files: BASE });
    symlinkSync('tool.sh', join(made.root, 'points'));
    mkdirSync(join(made.root, 'sub'));
    made.git('add', 'points');
    made.git(...POINTER, `160000,${'1'.repeat(40)},sub`);
    made.git('commit', '--quiet', '--message', 'links');
    const base = made.git('rev-parse', 'HEAD').trim();
    const git = testGit(t);
    const worktree = await makeWorktree(t, git, known(made));
    const inTree = gitIn(worktree.path);
    for (const change of Object.values(CHANGES)) change(worktree.path, inTree);

    const { patch, shared, withheld, changed, left_out, ...told } = await worktreeChanges(
      git.at(worktree),
      { base },
    );

    const clone = join(temporaryDirectory(t), 'clone');
    made.git('clone', '--quiet', '--no-hardlinks', made.root, clone);
    const inClone = gitIn(clone);
    inClone('checkout', '--quiet', base);
    const file = join(temporaryDirectory(t), 'diff.patch');
    writeFileSync(file, patch);
    inClone('apply', '--index', '--binary', '--whitespace=nowarn', file);
    inTree('add', '--all');
    assert.equal(inClone('ls-files', '-s', '-z'), inTree('ls-files', '-s', '-z'));
    assert.equal(inClone('write-tree'), inTree('write-tree'));
    // What is in the clone's files is what its index says.
    assert.equal(inClone('diff', '--ignore-submodules'), '');

    const counts = inTree('diff', '--cached', '--find-renames', '--shortstat', base);
    const [files, additions, deletions] = (counts.match(/\d+/g) ?? []).map(Number);
    assert.deepEqual(told, { files, additions, deletions });
    assert.equal(changed.length, files);
    assert.deepEqual([left_out, withheld], [[], []]);
    assert.deepEqual(shared, patch);
    const what = (path: string) => changed.find((one) => one.path === path)?.what;
    assert.deepEqual(
      ['ünï–😀.txt', 'old name.txt => new name.txt', 'tool.sh', 'gone.bin', 'sub'].map(what),
      ['added', 'renamed', 'mode', 'deleted', 'changed'],
    );
    assert.equal(what('moved.txt => deep/er/moved (50%).txt'), 'renamed');
  });
});
