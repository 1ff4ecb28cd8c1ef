import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertProblem, sha256, tagFor, withCase } from '../helpers/work-item.ts';

const NOBODY = `/cases/${randomUUID()}/memory`;

describe('PUT /cases/:id/memory/:filename', () => {
  it('writes the text byte for byte, and answers it with its tag', async (t) => {
    const { call, at, read, events } = await withCase(t);
    for (const text of [
      '# Notes\n',
      '',
      '\uFEFF---\r\na: 1\r\n---\r\n',
      'no end',
      'ü👩‍👩‍👧\0\t',
      '\n\n',
    ]) {
      const answer = await call('PUT', `${at}/memory/notes.md`, text);
      assert.deepEqual([answer.status, answer.text], [200, text]);
      assert.equal(read('memory/notes.md'), text);
      assert.equal(answer.headers['content-type'], 'text/markdown; charset=utf-8');
      assert.equal(answer.headers.etag, tagFor(text));
      assert.equal((await call('GET', `${at}/memory/notes.md`)).text, text);
    }
    assert.deepEqual(events, []);
  });

  it('takes plain text too, as fetch() and curl send it', async (t) => {
    const { call, at, read } = await withCase(t);
    for (const type of ['text/plain;charset=UTF-8', 'text/markdown; charset=utf-8']) {
      await call('PUT', `${at}/memory/notes.md`, type, { 'content-type': type });
      assert.equal(read('memory/notes.md'), type);
    }
  });

  it('takes 1 MiB and no byte more', async (t) => {
    const { call, at, read } = await withCase(t);
    const most = 'x'.repeat(1_048_576);
    assert.equal((await call('PUT', `${at}/memory/big.md`, most)).status, 200);
    assertProblem(await call('PUT', `${at}/memory/big.md`, `${most}y`), 413, 'too_large');
    assert.equal(read('memory/big.md').length, most.length);
  });

  it('keeps the one it replaces for undo', async (t) => {
    const { call, at, running } = await withCase(t);
    await call('PUT', `${at}/memory/notes.md`, 'the first');
    await call('PUT', `${at}/memory/notes.md`, 'the second');
    const undo = join(running.workspace, '.dossier/undo');
    const kept = readdirSync(undo, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('notes.md'));
    assert.deepEqual(
      kept.map((name) => readFileSync(join(undo, name), 'utf8')),
      ['the first'],
    );
  });

  it('refuses a tag that is not the one on disk, also after a change by hand', async (t) => {
    const { call, at, dir, read, write } = await withCase(t);
    const path = `${at}/memory/notes.md`;
    const first = await call('PUT', path, 'one');
    const match = { 'if-match': String(first.headers.etag) };
    assert.equal((await call('PUT', path, 'two', match)).status, 200);
    assertProblem(await call('PUT', path, 'three', match), 412, 'precondition_failed');
    const second = { 'if-match': tagFor('two') };
    write('memory/notes.md', 'by hand');
    assertProblem(await call('PUT', path, 'three', second), 412, 'precondition_failed');
    assert.equal(read('memory/notes.md'), 'by hand');
    const none = await call('PUT', `${at}/memory/new.md`, 'x', second);
    assertProblem(none, 412, 'precondition_failed');
    assert.ok(!existsSync(join(dir, 'memory/new.md')));
  });

  it('takes several tags with If-Match, and a star for a file that exists', async (t) => {
    const { call, at, dir } = await withCase(t);
    const path = `${at}/memory/notes.md`;
    const star = { 'if-match': '*' };
    const absent = await call('PUT', path, 'x', star);
    assertProblem(absent, 412, 'precondition_failed');
    assert.match(absent.text, /To create it, write without If-Match/);
    assert.ok(!existsSync(join(dir, 'memory/notes.md')));
    const { headers } = await call('PUT', path, 'one');
    const list = { 'if-match': `${tagFor('other')}, ${headers.etag}` };
    assert.equal((await call('PUT', path, 'two', list)).status, 200);
    assert.equal((await call('PUT', path, 'three', star)).status, 200);
    const weak = { 'if-match': `W/${tagFor('three')}` };
    assertProblem(await call('PUT', path, 'four', weak), 412, 'precondition_failed');
  });

  it('refuses If-None-Match, which would overwrite what it was to protect', async (t) => {
    const { call, at, read } = await withCase(t);
    const path = `${at}/memory/notes.md`;
    await call('PUT', path, 'one');
    const refused = await call('PUT', path, 'two', { 'if-none-match': '*' });
    assertProblem(refused, 400, 'bad_request');
    assert.match(refused.text, /Send PUT without it, with If-Match/);
    assert.equal(read('memory/notes.md'), 'one');
  });

  it('lets one of ten with the same If-Match win, and no text is ever mixed', async (t) => {
    const { call, at, read } = await withCase(t);
    const path = `${at}/memory/notes.md`;
    const { headers } = await call('PUT', path, 'start');
    const texts = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(50_000));
    const match = { 'if-match': String(headers.etag) };
    const answers = await Promise.all(texts.map((text) => call('PUT', path, text, match)));
    const won = texts.filter((_, n) => answers[n]?.status === 200);
    assert.deepEqual([won.length, read('memory/notes.md') === won[0]], [1, true]);
    assert.equal(answers.filter(({ status }) => status === 412).length, 9);
    const free = await Promise.all(texts.map((text) => call('PUT', path, text)));
    assert.ok(free.every(({ status }) => status === 200));
    assert.ok(texts.includes(read('memory/notes.md')));
  });

  it('never writes through a link', async (t) => {
    const { call, at, dir, running } = await withCase(t);
    const outside = join(running.repository.root, 'README.md');
    const before = readFileSync(outside, 'utf8');
    mkdirSync(join(dir, 'memory'));
    symlinkSync(outside, join(dir, 'memory/notes.md'));
    assertProblem(await call('PUT', `${at}/memory/notes.md`, 'x'), 400, 'bad_request');
    assertProblem(await call('GET', `${at}/memory/notes.md`), 400, 'bad_request');
    assert.equal(readFileSync(outside, 'utf8'), before);
  });

  it('is 404 for nobody', async (t) => {
    const { call } = await withCase(t);
    assertProblem(await call('PUT', `${NOBODY}/notes.md`, 'x'), 404, 'not_found');
  });
});

describe('GET /cases/:id/memory/:filename', () => {
  it('says whether the Work item, the file or the name is wrong', async (t) => {
    const { call, at } = await withCase(t);
    for (const [path, status, code, detail] of [
      [`${NOBODY}/notes.md`, 404, 'not_found', /no Work item/],
      [`${at}/memory/notes.md`, 404, 'not_found', /no memory file notes\.md/],
      [`${at}/memory/notes.txt`, 400, 'bad_request', /^notes\.txt is not a name for a memory file/],
    ] as const)
      assert.match(assertProblem(await call('GET', path), status, code).detail, detail);
  });

  it('answers what is on disk this moment, 304 for the tag at hand', async (t) => {
    const { call, at, write } = await withCase(t);
    const path = `${at}/memory/problem-definition.md`;
    assertProblem(await call('GET', path), 404, 'not_found');
    write('memory/problem-definition.md', '# By hand\r\n');
    const first = await call('GET', path);
    assert.deepEqual([first.status, first.text], [200, '# By hand\r\n']);
    const known = { 'if-none-match': String(first.headers.etag) };
    const same = await call('GET', path, undefined, known);
    assert.deepEqual([same.status, same.text], [304, '']);
    write('memory/problem-definition.md', '# Again\n');
    assert.equal((await call('GET', path, undefined, known)).text, '# Again\n');
    assertProblem(await call('GET', `${NOBODY}/notes.md`), 404, 'not_found');
  });
});

describe('GET /cases/:id/memory', () => {
  it('lists every Markdown file by name, with size and hash', async (t) => {
    const { call, at, dir, write } = await withCase(t);
    assert.deepEqual((await call('GET', `${at}/memory`)).body, []);
    const texts = {
      'Notes.md': 'ü',
      'b.md': '',
      'hypotheses.md': '# H\n',
      'lock.md': 'a file like any other',
    };
    for (const [name, text] of Object.entries(texts)) {
      const answer = await call('PUT', `${at}/memory/${name}`, text);
      assert.equal(answer.status, 200);
    }
    write('memory/by-hand.md', 'x');
    for (const name of ['.hidden.md', 'notes.md~', '.notes.md.swp', 'data.json', '#b.md#'])
      write(`memory/${name}`, 'x');
    mkdirSync(join(dir, 'memory/folder.md'));
    symlinkSync('/etc/passwd', join(dir, 'memory/link.md'));
    writeFileSync(join(dir, 'memory/latin1.md'), Buffer.from([0xe4]));
    const { status, body } = await call<{ filename: string; size: number; sha256: string }[]>(
      'GET',
      `${at}/memory`,
    );
    assert.equal(status, 200);
    assert.deepEqual(
      body.map(({ filename }) => filename),
      ['Notes.md', 'b.md', 'by-hand.md', 'hypotheses.md', 'latin1.md', 'lock.md'],
    );
    assert.deepEqual(body[0], { filename: 'Notes.md', size: 2, sha256: sha256('ü') });
    assert.equal(body[4]?.size, 1, 'bytes that are no UTF-8 are counted as they are');
    assertProblem(await call('GET', NOBODY), 404, 'not_found');
  });
});
