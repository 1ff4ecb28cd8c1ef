import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileCounts, isExcluded, unfitReason } from '../../../store/archive/archive-files.ts';

describe('isExcluded', () => {
  it('leaves out what is of this machine or this moment, at any depth', () => {
    for (const path of [
      '.dossier/',
      '.dossier/secrets/a',
      'cases/x/.git',
      'cases/x/.GIT/config',
      'cases/x/sessions/lock.md',
      'cases/x/sessions.lock/',
      'cases/x/case.md.lock/pid',
      'cases/x/case.md.tmp',
      'notes.tmp/a.md',
      'cases/x/case.md~',
      'cases/x/.case.md.swp',
      '.workspace.md.swo',
      'memory/#global.md#',
      'memory/.#global.md',
      'cases/x/case.md___jb_tmp___',
      'cases/x/.case.md.AbC12f',
      'memory/.goutputstream-9XKZ01',
      'cases/.DS_Store',
    ])
      assert.equal(isExcluded(path), true, path);
  });

  it('keeps everything else, whoever made it', () => {
    for (const path of [
      'workspace.md',
      '.gitignore',
      'cases/x/memory/lock.md',
      'cases/x/memory/yarn.lock',
      'cases/x/.dossier-notes.md',
      'cases/x/.github/a.md',
      'cases/x/a.tmp.md',
      'cases/x/~a.md',
      'cases/x/#3.md',
      'cases/x/a.md.bak',
      'cases/x/.a.swap.md',
      'cases/x/.eslintrc.config',
      'Bücher/日本 語.md',
    ])
      assert.equal(isExcluded(path), false, path);
  });
});

describe('unfitReason', () => {
  it('names why an entry of an archive cannot have this name', () => {
    const why: [string, RegExp][] = [
      ['a\nb.md', /control character/],
      ['a/b\u0085.md', /control character/],
      ['a\\b.md', /backslash/],
      ['C:/a.md', /colon/],
      ['note:1/a.md', /colon/],
      ['/etc/passwd', /relative/],
      ['a/../../b', /relative/],
      ['..', /relative/],
      ['./a', /relative/],
      ['a//b', /relative/],
      ['a/', /relative/],
      ['', /relative/],
      ['manifest.json', /manifest/],
    ];
    for (const [path, reason] of why) assert.match(unfitReason(path) ?? 'fit', reason, path);
  });

  it('finds nothing wrong with the rest', () => {
    for (const path of [
      'a',
      'a b/ü:日本.md',
      'x/manifest.json',
      'Manifest.json',
      'a/..b/...',
      'é/note:1.md',
    ])
      assert.equal(unfitReason(path), undefined, path);
  });
});

describe('countsOf', () => {
  it('counts Work items by case.md, sessions by session.md, and every file', () => {
    const paths = [
      'cases/2026-01/a/case.md',
      'cases/2026-01/a/sessions/one/session.md',
      'cases/2026-01/a/sessions/one/plan.md',
      'cases/2026-01/a/sessions/two/session.md',
      'cases/b/case.md',
      'workspace.md',
    ];
    assert.deepEqual(fileCounts(paths), { cases: 2, sessions: 2, files: 6 });
  });

  it('counts none below a Work item, outside cases/, or behind a leading dot', () => {
    const paths = [
      'cases/a/case.md',
      'cases/a/notes/b/case.md',
      'cases/a/notes/b/sessions/one/session.md',
      'cases/.hidden/case.md',
      'memory/a/case.md',
      'cases/no-item/sessions/one/session.md',
    ];
    assert.deepEqual(fileCounts(paths), { cases: 1, sessions: 0, files: 6 });
    assert.deepEqual(fileCounts([]), { cases: 0, sessions: 0, files: 0 });
  });
});
