import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Case } from '../../store/records/case.ts';
import type { Snapshot, SnapshotEntry } from '../../store/records/snapshot.ts';
import { acquireLock, releaseLock } from '../../store/sessions/locks.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Answered, type Running, startForTest } from '../helpers/service.ts';
import { withAgent, withCase as withSession } from '../helpers/sessions.ts';
import { assertProblem, sha256, tagFor } from '../helpers/work-item.ts';

const WRITE = '/api/global-memory/write';
const SNAPSHOT = '/api/global-memory/snapshot';
const SNAPSHOTS = '/api/global-memory/snapshots';

interface Kept extends Running {
  running: Running;
  /** memory/global.md as it is on disk. */
  text(): string;
  file: string;
  write(body: object, headers?: Record<string, string>): Promise<Answered>;
}

const keep = async (
  t: TestContext,
  options: Parameters<typeof startForTest>[1] = {},
): Promise<Kept> => {
  const running = await startForTest(t, options);
  const file = join(running.workspace, 'memory/global.md');
  return Object.assign(Object.create(running), {
    running,
    file,
    text: () => readFileSync(file, 'utf8'),
    write: (body: object, headers = {}) =>
      running.call('POST', WRITE, { mode: 'replace', ...body }, headers),
  }) as Kept;
};

const newCase = async ({ call }: Pick<Running, 'call'>): Promise<Case> =>
  (await call<Case>('POST', '/cases', { title: 'One', type: 'bug' })).body;

const TOKEN = 'a token of mine';
const held = (token?: string) => ({
  kind: 'operator' as const,
  name: 'me',
  acquired_at: new Date().toISOString(),
  ...(token !== undefined && { token_sha256: sha256(token) }),
});

const lockFileOf = ({ workspace }: Running, { path }: Case): string =>
  join(workspace, path, 'sessions/lock.md');

describe('POST /api/global-memory/write', () => {
  it('replaces global.md, byte for byte, and answers its size, hash and tag', async (t) => {
    const { write, text, call, events } = await keep(t);
    for (const content of ['# All\n', '', '\uFEFFno end', 'ü👩‍👩‍👧\r\n\t', '\n\n']) {
      const answer = await write({ content });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(text(), content);
      const size = Buffer.byteLength(content);
      const file = { filename: 'global.md', size, sha256: sha256(content) };
      assert.deepEqual([answer.body, answer.headers.etag], [file, tagFor(content)]);
      assert.deepEqual((await call('GET', '/api/global-memory')).body, [file]);
    }
    assert.deepEqual(events, []);
  });

  it('appends on a line of its own, in the line ends of the file', async (t) => {
    const { write, text, file } = await keep(t);
    const append = async (content: string): Promise<string> => {
      assert.equal((await write({ content, mode: 'append' })).status, 200);
      return text();
    };
    assert.equal(await append('a'), 'a');
    assert.equal(await append(''), 'a');
    assert.equal(await append('b\n'), 'a\nb\n');
    assert.equal(await append('c'), 'a\nb\nc');
    assert.equal(await append('\nd'), 'a\nb\nc\n\nd');
    writeFileSync(file, 'a\r\nb');
    assert.equal(await append('c'), 'a\r\nb\r\nc');
    writeFileSync(file, Buffer.from([0xe4]));
    await append('c');
    assert.deepEqual(readFileSync(file), Buffer.from([0xe4, 10, 99]), 'bytes that are no UTF-8');
  });

  it('keeps the one it replaces for undo', async (t) => {
    const { write, workspace } = await keep(t);
    await write({ content: 'the first' });
    await write({ content: 'the second' });
    const undo = join(workspace, '.dossier/undo');
    const kept = readdirSync(undo, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('global.md'));
    assert.deepEqual(
      kept.map((name) => readFileSync(join(undo, name), 'utf8')),
      ['the first'],
    );
  });

  it('refuses what is no text, an unknown mode and an unknown field', async (t) => {
    const { write, file, call } = await keep(t);
    assertProblem(await write({ content: 'a\0b' }), 400, 'bad_request', '/content');
    assertProblem(await write({ content: '\ud800' }), 400, 'bad_request', '/content');
    assertProblem(await write({ content: 'x', mode: 'prepend' }), 400, 'bad_request', '/mode');
    assertProblem(await write({ content: 'x', by: 'me' }), 400, 'bad_request', '/by');
    assertProblem(await write({ content: 'x', case_id: 'no' }), 400, 'bad_request', '/case_id');
    assertProblem(await call('POST', WRITE), 400, 'bad_request');
    assert.ok(!existsSync(file));
  });

  it('takes 1 MiB in all and no byte more', async (t) => {
    const { write, text } = await keep(t);
    const most = '\u0001'.repeat(1_048_575);
    assert.equal((await write({ content: most })).status, 200);
    assert.equal((await write({ content: 'x', mode: 'append' })).status, 413);
    assert.equal((await write({ content: '', mode: 'append' })).status, 200);
    const more = await write({ content: 'ü'.repeat(524_289) });
    assert.equal(assertProblem(more, 413, 'too_large').status, 413);
    assert.equal(text(), most);
  });

  it('refuses a tag that is not the one on disk, also after a change by hand', async (t) => {
    const { write, text, file } = await keep(t);
    const match = { 'if-match': tagFor('one') };
    assertProblem(await write({ content: 'x' }, match), 412, 'precondition_failed');
    assert.ok(!existsSync(file));
    await write({ content: 'one' });
    assert.equal((await write({ content: 'two', mode: 'append' }, match)).status, 200);
    assertProblem(await write({ content: 'x' }, match), 412, 'precondition_failed');
    writeFileSync(file, 'by hand');
    const old = { 'if-match': tagFor('one\ntwo') };
    assertProblem(await write({ content: 'x', mode: 'append' }, old), 412, 'precondition_failed');
    assert.equal(text(), 'by hand');
  });

  it('never writes through a link', async (t) => {
    const { write, file, repository } = await keep(t);
    const outside = join(repository.root, 'README.md');
    const before = readFileSync(outside, 'utf8');
    mkdirSync(join(file, '..'));
    symlinkSync(outside, file);
    assertProblem(await write({ content: 'x' }), 400, 'bad_request');
    assert.equal(readFileSync(outside, 'utf8'), before);
  });

  it('is 409 while the lock of that Work item, or of any, is held by another', async (t) => {
    const kept = await keep(t);
    const { write, service, text } = kept;
    const [mine, other] = [await newCase(kept), await newCase(kept)];
    await acquireLock(service.store, mine.id, held(TOKEN));
    const refused: object[] = [
      { content: 'x' },
      { content: 'x', case_id: mine.id },
      { content: 'x', case_id: mine.id, token: 'another' },
      { content: 'x', token: '' },
    ];
    for (const body of refused) {
      const problem = assertProblem(await write(body), 409, 'lock_held');
      assert.match(
        problem.detail,
        new RegExp(`^me holds the session lock of the Work item ${mine.id}`),
      );
    }
    assert.equal((await write({ content: 'a', case_id: other.id })).status, 200);
    assert.equal((await write({ content: 'b', token: TOKEN })).status, 200);
    const own = { content: 'c', case_id: mine.id, token: TOKEN };
    assert.equal((await write(own)).status, 200);
    assert.equal(text(), 'c');
    await acquireLock(service.store, other.id, held());
    assertProblem(await write({ content: 'x', token: TOKEN }), 409, 'lock_held');
    for (const { id } of [mine, other]) await releaseLock(service.store, id, () => true);
    assert.equal((await write({ content: 'd' })).status, 200);
  });

  it('takes the token that the lock was taken with by the API', async (t) => {
    const kept = await keep(t);
    const { id } = await newCase(kept);
    const lock = await kept.call<{ token: string }>('POST', `/api/worktrees/${id}/lock`);
    const { token } = lock.body;
    assert.equal((await kept.write({ content: 'x', case_id: id })).status, 409);
    assert.equal((await kept.write({ content: 'x', case_id: id, token })).status, 200);
    await kept.call('DELETE', `/api/worktrees/${id}/lock`);
    assert.equal((await kept.write({ content: 'y' })).status, 200);
  });

  it('is 404 for a Work item that is not there', async (t) => {
    const { write, file } = await keep(t);
    assertProblem(await write({ content: 'x', case_id: randomUUID() }), 404, 'not_found');
    assert.ok(!existsSync(file));
  });

  it('goes by the lock files that are there, whoever made or deleted them', async (t) => {
    const kept = await keep(t);
    const item = await newCase(kept);
    const lock = lockFileOf(kept, item);
    const made: Record<string, () => void> = {
      'front matter': () =>
        writeFileSync(lock, `---\nkind: operator\nacquired_at: ${new Date().toISOString()}\n---\n`),
      nothing: () => writeFileSync(lock, ''),
      'a broken one': () => writeFileSync(lock, '---\nkind: [\n'),
      'a directory': () => mkdirSync(lock),
      'a link': () => symlinkSync('/nowhere', lock),
    };
    mkdirSync(join(lock, '..'));
    for (const [what, make] of Object.entries(made)) {
      make();
      const named = await kept.write({ content: 'x', case_id: item.id });
      assert.equal(named.status, 409, `${what}: ${named.text}`);
      // Noticed by whatever looks at the Work item: here, its being read.
      await kept.call('GET', `/cases/${item.id}/proof`);
      assert.equal((await kept.write({ content: 'x' })).status, 409, what);
      rmSync(lock, { recursive: true });
      assert.equal((await kept.write({ content: what })).status, 200, 'deleted by hand');
    }
  });

  it('knows of a lock that was there before the start, and of one that a watcher hints at', async (t) => {
    const kept = await keep(t, { watch: true });
    const item = await newCase(kept);
    await acquireLock(kept.service.store, item.id, held());
    await kept.running.restart();
    assert.equal((await kept.write({ content: 'x' })).status, 409);
    rmSync(lockFileOf(kept, item));
    assert.equal((await kept.write({ content: 'x' })).status, 200);
    writeFileSync(lockFileOf(kept, item), 'by hand');
    await eventually(async () => assert.equal((await kept.write({ content: 'x' })).status, 409));
    rmSync(join(lockFileOf(kept, item), '../..'), { recursive: true });
    assert.equal((await kept.write({ content: 'gone with its Work item' })).status, 200);
  });

  it('waits for no session, and is refused while one is at work', async (t) => {
    const test = await withSession(t, undefined, withAgent(t, 'plan'));
    const { id } = await test.start();
    const refused = await test.call('POST', WRITE, { content: 'x', mode: 'append' });
    assert.match(assertProblem(refused, 409, 'lock_held').detail, new RegExp(`Session ${id}`));
    await test.control('abort');
    const free = await test.call('POST', WRITE, { content: 'x', mode: 'append' });
    assert.equal(free.status, 200);
  });

  it('lets nobody take a lock between its look and its write', async (t) => {
    const kept = await keep(t);
    const { service, write, text } = kept;
    const items = await Promise.all(Array.from({ length: 4 }, () => newCase(kept)));
    let writes = 0;
    const writeUntilRefused = async (case_id?: string): Promise<void> => {
      for (let status = 200; status === 200; ) {
        writes += 1;
        const body = { content: `write ${writes}`, ...(case_id !== undefined && { case_id }) };
        ({ status } = await write(body));
      }
    };
    await write({ content: 'start' });
    for (let round = 0; round < 24; round += 1) {
      const { id } = items[round % items.length] as Case;
      const writing = [writeUntilRefused(), writeUntilRefused(id), writeUntilRefused()];
      await acquireLock(service.store, id, held());
      // What the new holder finds is what it keeps finding.
      const found = text();
      await Promise.all(writing);
      assert.equal(text(), found);
      await releaseLock(service.store, id, () => true);
    }
    assert.ok(writes > 24 * 3);
  });

  it('loses no append and no line saved by hand at the same moment', async (t) => {
    const { write, text, file } = await keep(t);
    await write({ content: 'start\n' });
    const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`);
    const byHand = Array.from({ length: 50 }, (_, n) => `hand ${n}`);
    const append = async (line: string): Promise<void> => {
      for (let status = 409; status !== 200; ) {
        const answer = await write({ content: `${line}\n`, mode: 'append' });
        ({ status } = answer);
        assert.ok(status === 200 || status === 409, answer.text);
      }
    };
    const save = async (): Promise<void> => {
      for (const line of byHand) {
        writeFileSync(file, `${text()}${line}\n`);
        await delay(3);
      }
    };
    await Promise.all([save(), ...lines.map(append)]);
    const found = text().split('\n').slice(0, -1);
    assert.deepEqual(found.toSorted(), ['start', ...lines, ...byHand].toSorted());
  });

  it('says so when the file never holds still', async (t) => {
    const kept = await keep(t);
    await kept.write({ content: 'start' });
    const { store } = kept.service;
    // Saved by an editor whenever the daemon has read it.
    const { editText } = await import('../../store/front-matter/text-file.ts');
    let saves = 0;
    const path = { dir: store.layout.memory, filename: 'global.md' };
    const busy = editText(store.layout, path, () => {
      saves += 1;
      writeFileSync(kept.file, `by hand ${saves}`);
      return 'by the API';
    });
    await assert.rejects(busy, { code: 'file_busy' });
    assert.equal(kept.text(), 'by hand 5');
  });
});

describe('the global memory', () => {
  it('is told to every session, of a long file the beginning and the end', async (t) => {
    const test = await withSession(t, 'The task.', withAgent(t, 'echo'));
    const content = `The first rule.\n${'x'.repeat(200_000)}\nThe last rule.\n`;
    await test.call('POST', WRITE, { content, mode: 'replace' });
    const { id } = await test.planned();
    const { text: plan } = await test.call('GET', `${test.at}/sessions/${id}/plan`);
    for (const part of ['The task.', 'The first rule.', 'The last rule.', 'characters left out'])
      assert.ok(plan.includes(part), part);
    assert.ok(plan.includes(join(test.workspace, 'memory/global.md')));
    assert.ok(plan.length < 80_000);
  });
});

describe('GET /api/global-memory/:filename', () => {
  it('answers what is on disk this moment, 304 for the tag at hand', async (t) => {
    const { call, write, file } = await keep(t);
    const path = '/api/global-memory/global.md';
    assertProblem(await call('GET', path), 404, 'not_found');
    await write({ content: '# One\n' });
    const first = await call('GET', path);
    assert.deepEqual(
      [first.text, first.headers['content-type']],
      ['# One\n', 'text/markdown; charset=utf-8'],
    );
    const known = { 'if-none-match': String(first.headers.etag) };
    assert.equal((await call('GET', path, undefined, known)).status, 304);
    writeFileSync(file, 'by hand');
    assert.equal((await call('GET', path, undefined, known)).text, 'by hand');
    assertProblem(await call('GET', '/api/global-memory/.md'), 400, 'bad_request');
    assertProblem(await call('GET', '/api/global-memory/..%2Fworkspace.md'), 400, 'bad_request');
  });
});

describe('GET /api/global-memory', () => {
  it('lists every Markdown file by name, no snapshot among them', async (t) => {
    const { call, write, file } = await keep(t);
    assert.deepEqual((await call('GET', '/api/global-memory')).body, []);
    await write({ content: '# One\n' });
    writeFileSync(join(file, '../style.md'), 'ü');
    await call('POST', SNAPSHOT);
    const { body } = await call<{ filename: string; size: number }[]>('GET', '/api/global-memory');
    assert.deepEqual(
      body.map(({ filename, size }) => [filename, size]),
      [
        ['global.md', 6],
        ['style.md', 2],
      ],
    );
  });
});

describe('POST /api/global-memory/snapshot', () => {
  const FILES: Record<string, string> = {
    'empty.md': '',
    'fences.md': '````sh\n```\n## global.md\n\n3 bytes, SHA-256 x\n~~~\n`````\n````',
    'global.md': '---\na: 1\n---\r\n<<<<<<< ours\n=======\n>>>>>>> theirs\n\uFEFF',
    'nul.md': 'a\0b',
  };

  it('keeps every file byte for byte, in a file that a person can read', async (t) => {
    const { call, workspace } = await keep(t);
    mkdirSync(join(workspace, 'memory'));
    for (const [name, text] of Object.entries(FILES))
      writeFileSync(join(workspace, 'memory', name), text);
    writeFileSync(join(workspace, 'memory/latin1.md'), Buffer.from([0xe4, 10]));
    const made = await call<Snapshot>('POST', SNAPSHOT);
    assert.equal(made.status, 201, made.text);
    const { id, created_at, files } = made.body;
    assert.equal(made.headers.location, `${SNAPSHOTS}/${id}`);
    assert.deepEqual(
      files.filter(({ encoding }) => encoding === undefined),
      Object.entries(FILES).map(([filename, content]) => ({
        filename,
        content,
        sha256: sha256(content),
      })),
    );
    const { content, encoding } = files.find(({ filename }) => filename === 'latin1.md') ?? {};
    assert.deepEqual([content, encoding], ['5Ao=', 'base64']);
    const read = await call<Snapshot>('GET', String(made.headers.location));
    assert.deepEqual([read.body, read.headers.etag], [made.body, made.headers.etag]);
    const [name = ''] = readdirSync(join(workspace, 'memory/snapshots'));
    assert.match(name, /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{8}\.md$/);
    assert.equal(name.slice(0, 10), created_at.slice(0, 10));
    const record = readFileSync(join(workspace, 'memory/snapshots', name), 'utf8');
    assert.ok(record.includes(`\n## fences.md\n\n`) && record.includes(FILES['fences.md'] ?? ''));
  });

  it('keeps all of many that are made in one second', async (t) => {
    const { call, write } = await keep(t);
    await write({ content: 'all the same' });
    const made = await Promise.all(
      Array.from({ length: 12 }, () => call<Snapshot>('POST', SNAPSHOT)),
    );
    assert.ok(made.every(({ status }) => status === 201));
    const listed = await call<SnapshotEntry[]>('GET', SNAPSHOTS);
    assert.deepEqual(
      listed.body.map(({ id }) => id).toSorted(),
      made.map(({ body }) => body.id).toSorted(),
    );
  });

  it('never holds half of a write that happens at the same moment', async (t) => {
    const { call, write } = await keep(t);
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(20_000));
    await write({ content: texts[0] });
    const [snapshots] = await Promise.all([
      Promise.all(texts.map(() => call<Snapshot>('POST', SNAPSHOT))),
      Promise.all(texts.map((content) => write({ content }))),
    ]);
    for (const { body } of snapshots)
      assert.ok(texts.includes(body.files[0]?.content ?? ''), 'a text that was never there');
  });

  it('holds no files when there are none', async (t) => {
    const { call } = await keep(t);
    const { status, body, headers } = await call<Snapshot>('POST', SNAPSHOT);
    assert.deepEqual([status, body.files], [201, []]);
    assert.deepEqual((await call('GET', String(headers.location))).body, body);
  });

  it('takes 16 MiB and no more', async (t) => {
    const { call, workspace } = await keep(t);
    mkdirSync(join(workspace, 'memory'));
    writeFileSync(join(workspace, 'memory/log.md'), Buffer.alloc(16_777_217, 'x'));
    assertProblem(await call('POST', SNAPSHOT), 413, 'too_large');
    assert.ok(!existsSync(join(workspace, 'memory/snapshots')));
  });
});

describe('GET /api/global-memory/snapshots', () => {
  it('lists them oldest first, page by page; 304 for the tag at hand', async (t) => {
    const { call, write, workspace } = await keep(t);
    const ids: string[] = [];
    for (const content of ['one', 'two']) {
      await write({ content });
      ids.push((await call<Snapshot>('POST', SNAPSHOT)).body.id);
      // Names of the same second are in any order.
      const folder = join(workspace, 'memory/snapshots');
      const name = readdirSync(folder).find((each) =>
        each.endsWith(`${ids.at(-1)?.slice(0, 8)}.md`),
      );
      const text = readFileSync(join(folder, name ?? ''), 'utf8');
      rmSync(join(folder, name ?? ''));
      writeFileSync(join(folder, `${content === 'one' ? 2 : 1}.md`), text);
    }
    const all = await call<SnapshotEntry[]>('GET', SNAPSHOTS);
    assert.deepEqual(
      all.body.map(({ id, path, files }) => [id, path, files]),
      ids.map((id, n) => [id, `memory/snapshots/${2 - n}.md`, 1]),
    );
    const known = { 'if-none-match': String(all.headers.etag) };
    assert.equal((await call('GET', SNAPSHOTS, undefined, known)).status, 304);
    const first = await call<SnapshotEntry[]>('GET', `${SNAPSHOTS}?limit=1`);
    assert.deepEqual(first.body[0]?.id, ids[0]);
    assert.match(String(first.headers.link), /rel="next"/);
    const found = await call<Snapshot>('GET', `${SNAPSHOTS}/${ids[1]}`);
    assert.equal(found.body.files[0]?.content, 'two');
    const tag = { 'if-none-match': String(found.headers.etag) };
    assert.equal((await call('GET', `${SNAPSHOTS}/${ids[1]}`, undefined, tag)).status, 304);
  });

  it('says of one that was changed by hand that it was, and hides no other for it', async (t) => {
    const { call, write, workspace } = await keep(t);
    await write({ content: 'the text' });
    const { id } = (await call<Snapshot>('POST', SNAPSHOT)).body;
    const good = (await call<Snapshot>('POST', SNAPSHOT)).body;
    const folder = join(workspace, 'memory/snapshots');
    const name = readdirSync(folder).find((each) => each.includes(id.slice(0, 8))) ?? '';
    const text = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), text.replace('the text', 'a text'));
    const problem = assertProblem(
      await call('GET', `${SNAPSHOTS}/${id}`),
      409,
      'unreadable_record',
    );
    assert.match(problem.detail, new RegExp(`memory/snapshots/${name}.* 0 of 1 files`));
    writeFileSync(join(folder, 'note.md'), 'no record');
    symlinkSync('/etc/passwd', join(folder, 'link.md'));
    const listed = await call<SnapshotEntry[]>('GET', SNAPSHOTS);
    assert.deepEqual(listed.body.map((one) => one.id).toSorted(), [id, good.id].toSorted());
    const diagnosed = await call<{ file: string }[]>('GET', '/api/diagnostics');
    assert.deepEqual(
      diagnosed.body.map(({ file }) => file),
      ['memory/snapshots/link.md', 'memory/snapshots/note.md'],
    );
  });

  it('is 404 for one that is not there', async (t) => {
    const { call } = await keep(t);
    assertProblem(await call('GET', `${SNAPSHOTS}/${randomUUID()}`), 404, 'not_found');
    assertProblem(await call('GET', `${SNAPSHOTS}/first`), 404, 'not_found');
  });
});
