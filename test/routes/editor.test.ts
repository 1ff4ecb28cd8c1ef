import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { EditorEntry, EditorFile } from '../../store/records/editor.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import type { Answered } from '../helpers/service.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { assertProblem, sha256, tagFor, type WithCase, withCase } from '../helpers/work-item.ts';

interface Editing extends WithCase {
  root: string;
  file: (path: string) => string;
  files: (path: string) => string;
}

const FILES = {
  'README.md': '# Sample\n',
  'src/main.ts': 'export {};\n',
  '.gitignore': 'dist/\n*.log\n',
};

const start = async (t: TestContext): Promise<Editing> => {
  const work = await withCase(t, {}, { files: FILES });
  const { body } = await work.call<Worktree>('POST', '/api/worktrees', { case_id: work.item.id });
  return {
    ...work,
    root: body.path,
    file: (path) => join(body.path, path),
    files: (path) => `${work.at}/editor/files?path=${encodeURIComponent(path)}`,
  };
};

const status = ({ root }: Editing): string => gitIn(root)('status', '--porcelain').trim();

const kept = ({ running }: Editing, text: string): boolean =>
  readdirSync(join(running.workspace, '.dossier/undo'), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .some((each) => readFileSync(join(each.parentPath, each.name), 'utf8') === text);

describe('GET /cases/{id}/editor/files', () => {
  it('reads text byte for byte, with line ends and BOM, and tags it with its hash', async (t) => {
    const it = await start(t);
    const text = '\ufeffone\r\ntwo\n';
    writeFileSync(it.file('bom.txt'), text);
    const answer = await it.call<EditorFile>('GET', it.files('bom.txt'));
    assert.deepEqual(answer.body, {
      path: 'bom.txt',
      size: Buffer.byteLength(text),
      sha256: sha256(text),
      binary: false,
      encoding: 'utf-8',
      content: text,
    });
    assert.equal(answer.headers.etag, tagFor(text));
    const again = await it.call('GET', it.files('bom.txt'), undefined, {
      'if-none-match': tagFor(text),
    });
    assert.equal(again.status, 304);
  });

  it('says of what is no text that it is binary', async (t) => {
    const it = await start(t);
    for (const bytes of [Buffer.from([0x89, 0x50, 0, 1]), Buffer.from([0xff, 0xfe, 0x41])]) {
      writeFileSync(it.file('x.bin'), bytes);
      const { body } = await it.call<EditorFile>('GET', it.files('x.bin'));
      assert.deepEqual([body.binary, body.encoding], [true, 'base64']);
      assert.deepEqual(Buffer.from(body.content, 'base64'), bytes);
    }
  });

  it('answers 413 for what is too large, and says how large', async (t) => {
    const it = await start(t);
    writeFileSync(it.file('large.txt'), Buffer.alloc(4 * 1_048_576 + 1, 'a'));
    const answer = await it.call('GET', it.files('large.txt'));
    assert.match(assertProblem(answer, 413, 'too_large').detail, /4194305/);
  });

  it('reads it as the base has it, whatever became of it', async (t) => {
    const it = await start(t);
    rmSync(it.file('README.md'));
    const base = (path: string) => it.call<EditorFile>('GET', `${it.files(path)}&which=base`);
    const { status: code, body, headers } = await base('README.md');
    assert.deepEqual([code, body.content, headers.etag], [200, '# Sample\n', tagFor('# Sample\n')]);
    writeFileSync(it.file('new.txt'), 'new');
    for (const path of ['new.txt', 'src', 'src/none.ts', ':(top)README.md', '*.md'])
      assertProblem(await base(path), 404, 'not_found');
    assertProblem(await base('../README.md'), 400, 'bad_request');
    assertProblem(await it.call('GET', `${it.files('README.md')}&which=x`), 400, 'bad_request');
  });

  it('follows no link of the base, and serves nothing too large of it', async (t) => {
    const { link, large } = { link: 'link.md', large: 'large.txt' };
    const it = await start(t);
    symlinkSync('README.md', it.file(link));
    writeFileSync(it.file(large), Buffer.alloc(4 * 1_048_576 + 1, 'a'));
    gitIn(it.root)('add', '.');
    gitIn(it.root)('commit', '-qm', 'more');
    const other = await it.call<{ id: string }>('POST', '/cases', { title: 'Other', type: 'bug' });
    const case_id = other.body.id;
    const base = gitIn(it.root)('rev-parse', 'HEAD').trim();
    await it.call('POST', '/api/worktrees', { case_id, base });
    const at = (path: string) => `/cases/${case_id}/editor/files?which=base&path=${path}`;
    assertProblem(await it.call('GET', at(link)), 404, 'not_found');
    assertProblem(await it.call('GET', at(large)), 413, 'too_large');
  });

  it('answers 404 for what is not there, as without a worktree', async (t) => {
    const it = await start(t);
    assertProblem(await it.call('GET', it.files('none.txt')), 404, 'not_found');
    assertProblem(await it.call('GET', it.files('none/none.txt')), 404, 'not_found');
    const other = await it.call<{ id: string }>('POST', '/cases', { title: 'Other', type: 'bug' });
    const at = `/cases/${other.body.id}/editor/files?path=README.md`;
    assertProblem(await it.call('GET', at), 404, 'not_found');
  });

  it('answers 409 where the worktree is gone, or another one', async (t) => {
    const it = await start(t);
    renameSync(it.root, `${it.root}-away`);
    assertProblem(await it.call('GET', it.files('README.md')), 409, 'worktree_missing');
    symlinkSync(`${it.root}-away`, it.root);
    assertProblem(await it.call('GET', it.files('README.md')), 409, 'worktree_tampered');
  });

  it('opens no link, pipe, hard link or directory, and goes through no link', async (t) => {
    const it = await start(t);
    const outside = temporaryDirectory(t);
    writeFiles(outside, { 'secret.txt': 'SECRET' });
    symlinkSync(join(outside, 'secret.txt'), it.file('link.txt'));
    symlinkSync('README.md', it.file('inner-link.txt'));
    symlinkSync(outside, it.file('out'));
    linkSync(join(outside, 'secret.txt'), it.file('hard.txt'));
    execFileSync('mkfifo', [it.file('pipe')]);
    const paths = ['link.txt', 'inner-link.txt', 'out/secret.txt', 'hard.txt', 'pipe', 'src'];
    for (const path of [...paths, 'README.md/x']) {
      const answer = await it.call('GET', it.files(path));
      assertProblem(answer, 400, 'bad_request');
      assert.doesNotMatch(answer.text, /SECRET/);
      const put = await it.call('PUT', it.files(path), { content: 'x' });
      assertProblem(put, 400, 'bad_request');
    }
    assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), 'SECRET');
  });

  it('keeps out of .git, by any name and of any repository', async (t) => {
    const it = await start(t);
    mkdirSync(it.file('inner'));
    gitIn(it.file('inner'))('init', '--quiet');
    for (const path of ['.git', '.GIT', 'inner/.git/config', 'inner/.git', '.git\u200c', 'git~1'])
      for (const answer of [
        await it.call('GET', it.files(path)),
        await it.call('PUT', it.files(path), { content: '' }),
        await it.call('DELETE', it.files(path)),
        await it.call('POST', `${it.at}/editor/files`, { path, content: '' }),
        await it.call('POST', `${it.at}/editor/directories`, { path }),
        await it.call('POST', `${it.at}/editor/rename`, { from: 'README.md', to: path }),
        await it.call('POST', `${it.at}/editor/rename`, { from: path, to: 'stolen' }),
        await it.call('GET', `${it.at}/editor/directories?path=${encodeURIComponent(path)}`),
      ])
        assertProblem(answer, 400, 'bad_request');
    const moved = await it.call('POST', `${it.at}/editor/rename`, { from: 'inner', to: 'other' });
    assertProblem(moved, 400, 'bad_request');
  });
});

describe('a path that the editor refuses', () => {
  it('is refused with what to do, and one that is not there with where to look', async (t) => {
    const it = await start(t);
    symlinkSync('README.md', it.file('link'));
    execFileSync('mkfifo', [it.file('pipe')]);
    const refused = ['src', 'link', 'pipe', 'README.md/x', '.git/HEAD', '../x', '/x', 'a//b'];
    const odd = ['a\nb', 'a\\b', 'x'.repeat(256), 'none.txt'];
    for (const path of [...refused, ...odd]) {
      const answer = await it.call('GET', it.files(path));
      assertProblem(answer, path === 'none.txt' ? 404 : 400, answer.body.code as string);
      assert.match(String(answer.body.detail), /^.+\. [A-Z].+\.$/s, answer.text);
    }
  });
});

describe('POST /cases/{id}/editor/files', () => {
  it('makes a file with the directories on the way, and nothing besides', async (t) => {
    const it = await start(t);
    const made = await it.call('POST', `${it.at}/editor/files`, {
      path: 'a/b/new é.txt',
      content: 'new\n',
    });
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers.etag, tagFor('new\n'));
    assert.equal(readFileSync(it.file('a/b/new é.txt'), 'utf8'), 'new\n');
    assert.deepEqual(readdirSync(it.file('a/b')), ['new é.txt']);
    const read = await it.call<EditorFile>('GET', String(made.headers.location));
    assert.equal(read.body.content, 'new\n');
    assert.equal(lstatSync(it.file('a/b/new é.txt')).nlink, 1);
  });

  it('takes bytes as base64', async (t) => {
    const it = await start(t);
    const body = { path: 'x.bin', content: 'AAH/', encoding: 'base64' };
    assert.equal((await it.call('POST', `${it.at}/editor/files`, body)).status, 201);
    assert.deepEqual(readFileSync(it.file('x.bin')), Buffer.from([0, 1, 255]));
  });

  it('refuses content that cannot be meant, names that others spell otherwise, and what is too large', async (t) => {
    const it = await start(t);
    const post = (body: object) => it.call('POST', `${it.at}/editor/files`, body);
    const base64 = { path: 'x', content: 'AAH', encoding: 'base64' };
    assertProblem(await post(base64), 400, 'bad_request', '/content');
    assertProblem(await post({ path: 'x', content: '\ud800' }), 400, 'bad_request', '/content');
    assertProblem(await post({ path: 'e\u0301.txt', content: '' }), 400, 'bad_request');
    assertProblem(await post({ path: 'e\u0301/x.txt', content: '' }), 400, 'bad_request');
    const large = { path: 'x', content: 'a'.repeat(4 * 1_048_576 + 1) };
    assertProblem(await post(large), 413, 'too_large');
    assert.equal(status(it), '');
  });

  it('leaves what is there as it is: 409, also for a directory and a link to nothing', async (t) => {
    const it = await start(t);
    symlinkSync('/nowhere/at/all', it.file('dangling'));
    for (const path of ['README.md', 'src', 'dangling']) {
      const answer = await it.call('POST', `${it.at}/editor/files`, { path, content: 'mine' });
      assertProblem(answer, 409, 'already_exists');
    }
    assert.equal(readFileSync(it.file('README.md'), 'utf8'), '# Sample\n');
  });

  it('lets one of many win', async (t) => {
    const it = await start(t);
    const answers = await Promise.all(
      [...'abcdefgh'].map((content) =>
        it.call('POST', `${it.at}/editor/files`, { path: 'race.txt', content }),
      ),
    );
    const won = answers.findIndex((answer) => answer.status === 201);
    assert.deepEqual(answers.map((answer) => answer.status).toSorted(), [
      201,
      ...Array(7).fill(409),
    ]);
    assert.equal(readFileSync(it.file('race.txt'), 'utf8'), 'abcdefgh'[won]);
  });
});

describe('PUT /cases/{id}/editor/files', () => {
  it('writes the file whole, keeps its mode, and what it held', async (t) => {
    const it = await start(t);
    chmodSync(it.file('src/main.ts'), 0o751);
    const answer = await it.call('PUT', it.files('src/main.ts'), { content: 'new\n' });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.etag, tagFor('new\n'));
    assert.equal(readFileSync(it.file('src/main.ts'), 'utf8'), 'new\n');
    assert.equal(statSync(it.file('src/main.ts')).mode & 0o7777, 0o751);
    assert.deepEqual(readdirSync(it.file('src')), ['main.ts']);
    assert.ok(kept(it, 'export {};\n'));
    assert.equal((await it.call('GET', it.files('src/main.ts'))).status, 200);
    assert.deepEqual(readdirSync(join(it.running.workspace, '.dossier/tmp')), []);
  });

  it('makes no file: 404', async (t) => {
    const it = await start(t);
    assertProblem(await it.call('PUT', it.files('none.txt'), { content: '' }), 404, 'not_found');
    assert.equal(existsSync(it.file('none.txt')), false);
  });

  it('writes over nobody who was faster: with If-Match one of many wins', async (t) => {
    const it = await start(t);
    const headers = { 'if-match': tagFor('# Sample\n') };
    const answers = await Promise.all(
      [...'abcdefgh'].map((content) => it.call('PUT', it.files('README.md'), { content }, headers)),
    );
    const won = answers.findIndex((answer) => answer.status === 200);
    assert.deepEqual(answers.map((answer) => answer.status).toSorted(), [
      200,
      ...Array(7).fill(412),
    ]);
    assert.equal(readFileSync(it.file('README.md'), 'utf8'), 'abcdefgh'[won]);
    writeFileSync(it.file('README.md'), 'by hand');
    const late = await it.call(
      'PUT',
      it.files('README.md'),
      { content: 'x' },
      { 'if-match': tagFor('a') },
    );
    assertProblem(late, 412, 'precondition_failed');
    assert.equal(readFileSync(it.file('README.md'), 'utf8'), 'by hand');
  });
});

describe('DELETE /cases/{id}/editor/files', () => {
  it('deletes a file and keeps it, also one with the longest name', async (t) => {
    const it = await start(t);
    const long = 'é'.repeat(127);
    writeFileSync(it.file(long), 'long\n');
    assert.equal((await it.call('DELETE', it.files('README.md'))).status, 204);
    assert.equal((await it.call('DELETE', it.files(long))).status, 204);
    assert.equal(status(it), 'D README.md');
    assert.ok(kept(it, '# Sample\n') && kept(it, 'long\n'));
    assertProblem(await it.call('DELETE', it.files('README.md')), 404, 'not_found');
  });

  it('deletes an empty directory, and none with something in it', async (t) => {
    const it = await start(t);
    mkdirSync(it.file('empty'));
    assert.equal((await it.call('DELETE', it.files('empty'))).status, 204);
    assertProblem(await it.call('DELETE', it.files('src')), 422, 'invalid_state');
    assert.ok(existsSync(it.file('src/main.ts')));
  });

  it('honours If-Match, and refuses links and what is too large to be kept', async (t) => {
    const it = await start(t);
    const headers = { 'if-match': tagFor('other') };
    const answer = await it.call('DELETE', it.files('README.md'), undefined, headers);
    assertProblem(answer, 412, 'precondition_failed');
    symlinkSync('README.md', it.file('link'));
    assertProblem(await it.call('DELETE', it.files('link')), 400, 'bad_request');
    execFileSync('truncate', ['-s', '65M', it.file('huge')]);
    assertProblem(await it.call('DELETE', it.files('huge')), 413, 'too_large');
    assert.ok(existsSync(it.file('README.md')) && existsSync(it.file('huge')));
  });
});

describe('POST /cases/{id}/editor/rename', () => {
  const renaming = (it: Editing, from: string, to: string) =>
    it.call('POST', `${it.at}/editor/rename`, { from, to });

  it('renames files and directories, and makes the way', async (t) => {
    const it = await start(t);
    const answer = await renaming(it, 'README.md', 'docs/deep/READ.md');
    assert.deepEqual(
      [answer.status, answer.body],
      [200, { from: 'README.md', path: 'docs/deep/READ.md' }],
    );
    assert.equal(readFileSync(it.file('docs/deep/READ.md'), 'utf8'), '# Sample\n');
    assert.equal((await renaming(it, 'src', 'lib')).status, 200);
    assert.deepEqual(readdirSync(it.file('lib')), ['main.ts']);
    assert.equal(existsSync(it.file('src')), false);
  });

  it('takes no name that something has, be it an empty directory', async (t) => {
    const it = await start(t);
    mkdirSync(it.file('empty'));
    for (const [from, to] of [
      ['README.md', 'src/main.ts'],
      ['README.md', 'src'],
      ['src', 'empty'],
      ['src', 'README.md'],
    ] as const)
      assertProblem(await renaming(it, from, to), 409, 'already_exists');
    assert.equal(readFileSync(it.file('src/main.ts'), 'utf8'), 'export {};\n');
    assert.equal(status(it), '');
  });

  it('refuses a way into itself, links, and what is not there', async (t) => {
    const it = await start(t);
    symlinkSync('README.md', it.file('link'));
    assertProblem(await renaming(it, 'src', 'src/src'), 400, 'bad_request');
    assertProblem(await renaming(it, 'src', 'src'), 400, 'bad_request');
    assertProblem(await renaming(it, 'link', 'other'), 400, 'bad_request');
    assertProblem(await renaming(it, 'none', 'other'), 404, 'not_found');
  });

  it('lets one of many win, and loses neither file', async (t) => {
    const it = await start(t);
    for (const name of 'abcdef') writeFileSync(it.file(name), name);
    const answers = await Promise.all([...'abcdef'].map((name) => renaming(it, name, 'target')));
    assert.deepEqual(answers.map((each) => each.status).toSorted(), [200, 409, 409, 409, 409, 409]);
    const there = [...'abcdef'].filter((name) => existsSync(it.file(name)));
    assert.equal(there.length, 5);
    assert.ok(!there.includes(readFileSync(it.file('target'), 'utf8')));
  });
});

describe('POST /cases/{id}/editor/directories', () => {
  it('makes a directory with those on the way; one that is there is 409', async (t) => {
    const it = await start(t);
    const post = (path: string) => it.call('POST', `${it.at}/editor/directories`, { path });
    assert.equal((await post('a/b/c')).status, 201);
    assert.ok(statSync(it.file('a/b/c')).isDirectory());
    for (const path of ['a/b', 'README.md']) assertProblem(await post(path), 409, 'already_exists');
    const both = await Promise.all([post('race'), post('race')]);
    assert.deepEqual(both.map((each) => each.status).toSorted(), [201, 409]);
  });
});

describe('GET /cases/{id}/editor/directories', () => {
  const list = async (it: Editing, query = '') =>
    (await it.call<EditorEntry[]>('GET', `${it.at}/editor/directories${query}`)).body;

  it('says what there is, and what git ignores', async (t) => {
    const it = await start(t);
    writeFiles(it.root, { 'dist/out.js': '', 'debug.log': 'x', ':weird': '', 'a b': '' });
    writeFiles(it.root, { 'größe.log': '' });
    symlinkSync('/etc', it.file('out'));
    writeFileSync(Buffer.concat([Buffer.from(`${it.root}/`), Buffer.from([0xff])]), '');
    const entries = await list(it);
    assert.deepEqual(
      entries.map(({ name, kind, ignored }) => [name, kind, ignored]),
      [
        ['.gitignore', 'file', false],
        [':weird', 'file', false],
        ['README.md', 'file', false],
        ['a b', 'file', false],
        ['debug.log', 'file', true],
        ['dist', 'directory', true],
        ['größe.log', 'file', true],
        ['out', 'link', false],
        ['src', 'directory', false],
        ['\ufffd', 'other', null],
      ].map(([name, kind, ignored]) => [name, kind, kind === 'other' ? false : ignored]),
    );
    assert.deepEqual(
      (await list(it, '?path=src')).map(({ path, size }) => [path, size]),
      [['src/main.ts', 11]],
    );
    assert.deepEqual(
      (await list(it, '?path=dist')).map(({ ignored }) => ignored),
      [true],
    );
  });

  it('goes through a long one page by page', async (t) => {
    const it = await start(t);
    writeFiles(it.root, Object.fromEntries([...Array(25).keys()].map((n) => [`many/f${n}`, ''])));
    const seen: string[] = [];
    let next: string | undefined = `${it.at}/editor/directories?path=many&limit=10`;
    while (next !== undefined) {
      const page: Answered<EditorEntry[]> = await it.call('GET', next);
      seen.push(...page.body.map(({ name }) => name));
      next = /^<(.*)>; rel="next"$/.exec(String(page.headers.link ?? ''))?.[1];
    }
    assert.deepEqual(seen, [...Array(25).keys()].map((n) => `f${n}`).toSorted());
  });

  it('answers 404 for none and 400 for a file or a link', async (t) => {
    const it = await start(t);
    symlinkSync('src', it.file('link'));
    const at = `${it.at}/editor/directories?path=`;
    assertProblem(await it.call('GET', `${at}none`), 404, 'not_found');
    assertProblem(await it.call('GET', `${at}README.md`), 400, 'bad_request');
    assertProblem(await it.call('GET', `${at}link`), 400, 'bad_request');
    assertProblem(await it.call('GET', `${at}..`), 400, 'bad_request');
  });
});

describe('/projects/{id}/files', () => {
  it('makes a file of the checkout with a content, and reads it without', async (t) => {
    const { call, running } = await withCase(t);
    const post = (body: object, id = 'default') =>
      call<EditorFile>('POST', `/projects/${id}/files`, body);
    const made = await post({ path: 'docs/new.md', content: '# New\n' });
    assert.equal(made.status, 201, made.text);
    const read = await post({ path: 'docs/new.md' });
    assert.deepEqual([read.status, read.body.content], [200, '# New\n']);
    assert.equal((await call('GET', String(made.headers.location))).text, read.text);
    assertProblem(await post({ path: 'docs/new.md', content: '' }), 409, 'already_exists');
    assertProblem(await post({ path: 'none' }), 404, 'not_found');
    assertProblem(await post({ path: 'README.md' }, 'other'), 404, 'not_found');
    assertProblem(await post({ path: '../x', content: '' }), 400, 'bad_request');
    assertProblem(await post({ path: '.git/config' }), 400, 'bad_request');
    assert.equal(running.repository.git('status', '--porcelain').trim(), '?? docs/');
  });

  it('answers 422 for a bare repository, and serves nothing of .dossier/', async (t) => {
    const bare = makeRepository(t, { bare: true });
    const { call } = await withCase(t, {}, { repository: bare });
    const refused = await call('POST', '/projects/default/files', { path: 'HEAD' });
    assertProblem(refused, 422, 'no_repository');

    const repository = makeRepository(t);
    mkdirSync(join(repository.root, 'space'));
    const inside = await withCase(t, {}, { repository, workspace: join(repository.root, 'space') });
    const secret = await inside.call('GET', '/projects/default/files?path=space/.dossier/machine');
    assertProblem(secret, 400, 'bad_request');
  });
});

describe('writing while a session goes on', () => {
  it('is refused from the picture of a Plan turn to its end', async (t) => {
    const it = await withSession(t, '', { settings: 'provider: manual' });
    await it.start();
    const baselines = join(it.workspace, '.dossier/baselines');
    await eventually(() => assert.notDeepEqual(readdirSync(baselines), []));
    const at = `${it.at}/editor/files`;
    const body = { path: 'mine.txt', content: 'mine' };
    const refused = await it.call('POST', at, body);
    assert.match(assertProblem(refused, 409, 'session_active').detail, /Plan mode/);
    assert.equal((await it.call('GET', `${at}?path=README.md`)).status, 200);
    await it.control('abort');
    assert.equal((await it.call('POST', at, body)).status, 201);
  });

  it('is told in the stream', async (t) => {
    const it = await withSession(t, '', { settings: 'provider: manual' });
    const { id } = await it.start();
    const plan = `${it.at}/sessions/${id}/plan`;
    await it.call('PUT', plan, 'Write it by hand.\n', { 'content-type': 'text/markdown' });
    await it.until(id, 'plan_ready');
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.until(id, 'working');
    const made = await it.call('POST', `${it.at}/editor/files`, { path: 'a.txt', content: 'a' });
    assert.equal(made.status, 201, made.text);
    await it.call('POST', `${it.at}/editor/rename`, { from: 'a.txt', to: 'b.txt' });
    const told = (await it.eventsOf(id)).filter(({ event }) => event === 'operator_edit');
    assert.deepEqual(
      told.map(({ data }) => ({ ...data, at: undefined })),
      [
        { action: 'created', path: 'a.txt', at: undefined },
        { action: 'renamed', path: 'b.txt', from: 'a.txt', at: undefined },
      ],
    );
    await it.control('abort');
  });

  it('never falls between the picture of a Plan turn and its end', async (t) => {
    const it = await withSession(t);
    const { id } = await it.start();
    const answers: number[] = [];
    for (let n = 0; n < 200; n += 1) {
      const body = { path: `f${n}.txt`, content: 'x' };
      answers.push((await it.call('POST', `${it.at}/editor/files`, body)).status);
      const { body: session } = await it.call('GET', `${it.at}/sessions/${id}`);
      if (session.status === 'plan_ready' || session.status === 'failed') break;
    }
    await eventually(async () => {
      const { body } = await it.call('GET', `${it.at}/sessions/${id}`);
      assert.ok(['plan_ready', 'failed'].includes(String(body.status)));
    });
    const { body: session } = await it.call('GET', `${it.at}/sessions/${id}`);
    assert.deepEqual([session.status, session.error], ['plan_ready', null]);
    assert.ok(
      answers.every((each) => [201, 404, 409].includes(each)),
      answers.join(),
    );
    await it.control('abort');
  });
});
