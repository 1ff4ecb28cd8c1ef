import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import { layoutOf } from '../../store/layout.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { Gate, Proof } from '../../store/records/proof.ts';
import { eventually } from '../helpers/eventually.ts';
import { readExport } from '../helpers/exported.ts';
import {
  assertProblem,
  sha256,
  tagFor,
  told,
  type WithCase,
  withCase,
} from '../helpers/work-item.ts';

const SHOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

const upload = (
  { call, at }: Pick<WithCase, 'call' | 'at'>,
  bytes: Buffer = SHOT,
  query = 'type=screenshot&name=shot.png',
  headers: Record<string, string> = { 'content-type': 'image/png' },
) => call<Proof>('POST', `${at}/proof/files?${query}`, bytes, headers);

const withFile = async (t: TestContext, bytes = SHOT) => {
  const work = await withCase(t);
  const answer = await upload(work, bytes);
  assert.equal(answer.status, 201, answer.text);
  const proof = answer.body;
  const stem = `screenshot-${proof.id.slice(0, 8)}`;
  const path = join(work.dir, 'proof', `${stem}.png`);
  return { ...work, proof, record: `proof/${stem}.md`, path, one: `${work.at}/proof/${proof.id}` };
};

const byHand = (more = ''): string =>
  `---\ntype: screenshot\nfile: shot.png\n${more}---\n\nThe list.\n`;

const put = ({ dir }: WithCase, name: string, bytes: string | Buffer): void => {
  mkdirSync(join(dir, 'proof'), { recursive: true });
  writeFileSync(join(dir, 'proof', name), bytes);
};

const proofs = async ({ call, at }: WithCase): Promise<Proof[]> =>
  (await call<Proof[]>('GET', `${at}/proof`)).body;

const problems = async (work: WithCase) => {
  await proofs(work);
  return ((await work.call<Case>('GET', work.at)).body.problems ?? []).map(({ code, file }) => [
    code,
    file.slice(work.item.path.length + 1),
  ]);
};

describe('POST /cases/:id/proof/files', () => {
  it('keeps the bytes beside a record that has their hash, and tells it', async (t) => {
    const work = await withFile(t);
    const { proof, record, path, read, events, one, call, item } = work;
    assert.deepEqual(readFileSync(path), SHOT);
    const text = read(record);
    assert.match(text, new RegExp(`^file: screenshot-${proof.id.slice(0, 8)}\\.png$`, 'm'));
    assert.match(text, new RegExp(`^file_sha256: ${sha256(SHOT)}$`, 'm'));
    assert.deepEqual([proof.file_sha256, proof.content, proof.verified], [sha256(SHOT), '', false]);
    const answer = await call<Proof>('GET', one);
    assert.deepEqual(answer.body, proof);
    assert.equal(answer.headers.etag, tagFor(text));
    assert.deepEqual(
      events.map(({ payload }) => payload),
      [{ case_id: item.id, proof_id: proof.id, proof_type: 'screenshot' }],
    );
    assert.deepEqual(await problems(work), []);
    assert.deepEqual(readdirSync(join(work.running.workspace, '.dossier/tmp')), []);
  });

  it('takes 25 MB and no byte more, of any type, and keeps nothing of what it refuses', async (t) => {
    const work = await withCase(t);
    const most = Buffer.alloc(26_214_400, 1);
    const made = await upload(work, most, 'type=recording', { 'content-type': 'video/webm' });
    assert.deepEqual([made.status, made.body.file?.endsWith('.webm')], [201, true], made.text);
    const over = Buffer.alloc(26_214_401, 1);
    assertProblem(await upload(work, over), 413, 'too_large');
    assertProblem(await upload(work, SHOT, 'type=Screen%20shot'), 400, 'bad_request', 'query/type');
    assertProblem(
      await upload(work, SHOT, 'type=a&session_id=x'),
      400,
      'bad_request',
      'query/session_id',
    );
    const nobody = { ...work, at: `/cases/${randomUUID()}` };
    assertProblem(await upload(nobody), 404, 'not_found');
    const packed = { 'content-type': 'image/png', 'content-encoding': 'gzip' };
    assertProblem(await upload(work, SHOT, 'type=a', packed), 415, 'unsupported_media_type');
    assert.equal(readdirSync(join(work.dir, 'proof')).length, 2);
    assert.deepEqual(readdirSync(join(work.running.workspace, '.dossier/tmp')), []);
  });

  it('makes a name of its own: none that came leads anywhere, or is a record', async (t) => {
    const work = await withCase(t);
    for (const [name, ending] of [
      ['../../../etc/passwd', 'png'],
      ['a.md', 'markdown'],
      ['x.PNG', 'png'],
      ['noending', 'png'],
      ['a.b/../c.sh', 'sh'],
      ['nul%00.txt', 'txt'],
    ]) {
      const { body, status, text } = await upload(work, SHOT, `type=a&name=${name}`);
      assert.equal(status, 201, text);
      assert.equal(body.file, `a-${body.id.slice(0, 8)}.${ending}`);
    }
    assert.equal(readdirSync(join(work.dir, 'proof')).length, 12);
  });

  it('keeps all of ten that come at once', async (t) => {
    const work = await withCase(t);
    const files = Array.from({ length: 10 }, () => randomBytes(100_000));
    const made = await Promise.all(files.map((bytes) => upload(work, bytes)));
    for (const [n, { body }] of made.entries()) {
      const file = await work.call('GET', `${work.at}/proof/${body.id}/file`);
      assert.equal(sha256(file.bytes), sha256(files[n] ?? ''));
    }
  });

  it('with an Idempotency-Key is made once, and another file with it is 422', async (t) => {
    const work = await withCase(t);
    const headers = { 'content-type': 'image/png', 'idempotency-key': 'k' };
    const [first, again] = [
      await upload(work, SHOT, 'type=a', headers),
      await upload(work, SHOT, 'type=a', headers),
    ];
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    const other = await upload(work, Buffer.from('other'), 'type=a', headers);
    assertProblem(other, 422, 'idempotency_mismatch');
    assert.equal((await proofs(work)).length, 1);
    const kept = join(work.running.workspace, '.dossier/answers', `${sha256('k')}.json`);
    const { answer: _, said: _said, ...begun } = JSON.parse(readFileSync(kept, 'utf8'));
    writeFileSync(kept, JSON.stringify(begun));
    rmSync(join(work.dir, 'proof', `a-${first.body.id.slice(0, 8)}.md`));
    await work.running.restart();
    const third = await upload(work, SHOT, 'type=a', headers);
    assert.deepEqual(
      [third.status, third.body.id],
      [201, first.body.id],
      'its daemon died between',
    );
    assert.deepEqual(await problems(work), []);
  });
});

describe('GET /cases/:id/proof/:pid/file', () => {
  it('shows an image as one, and nothing in it is run', async (t) => {
    const { call, one } = await withFile(t);
    const { status, headers, bytes } = await call('GET', `${one}/file`);
    assert.deepEqual([status, bytes.equals(SHOT)], [200, true]);
    assert.equal(headers['content-type'], 'image/png');
    assert.match(String(headers['content-disposition']), /^inline; filename="screenshot-/);
    assert.match(String(headers['content-security-policy']), /^sandbox; default-src 'none'/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers.etag, `"${sha256(SHOT).slice(0, 32)}"`);
    const again = await call('GET', `${one}/file`, undefined, {
      'if-none-match': String(headers.etag),
    });
    assert.equal(again.status, 304);
  });

  it('sends the bytes that a browser asks for, so that it can seek in a recording', async (t) => {
    const { call, one } = await withFile(t);
    const size = SHOT.length;
    const get = (headers: Record<string, string>) => call('GET', `${one}/file`, undefined, headers);
    const all = await get({});
    assert.equal(all.headers['accept-ranges'], 'bytes');
    const etag = String(all.headers.etag);
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 0],
      ['bytes=2-', 2, size - 1],
      [`bytes=1-${size * 2}`, 1, size - 1],
      ['bytes=-3', size - 3, size - 1],
      [`bytes=-${size * 2}`, 0, size - 1],
    ] as const) {
      const { status, headers, bytes } = await get({ range, 'if-range': etag });
      assert.equal(status, 206, range);
      assert.equal(headers['content-range'], `bytes ${from}-${to}/${size}`);
      assert.equal(headers['content-length'], to - from + 1);
      assert.ok(bytes.equals(SHOT.subarray(from, to + 1)), range);
      assert.equal(headers['content-type'], 'image/png');
    }
    for (const range of ['bytes=3-1', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=-', 'x'])
      assert.equal((await get({ range })).status, 200, range);
    assert.equal((await get({ range: 'bytes=0-0', 'if-range': '"other"' })).status, 200);
    assert.equal((await get({ range: 'bytes=0-0', 'if-none-match': etag })).status, 304);
    for (const range of [`bytes=${size}-`, 'bytes=-0']) {
      const beyond = await get({ range });
      assertProblem(beyond, 416, 'range_not_satisfiable');
      assert.equal(beyond.headers['content-range'], `bytes */${size}`);
    }
    const { status, headers } = await call('HEAD', `${one}/file`, undefined, {
      range: 'bytes=0-0',
    });
    assert.deepEqual([status, headers['content-length']], [200, size]);
  });

  it('sends ranges of files alone', async (t) => {
    const { call } = await withFile(t);
    const { status, headers } = await call('GET', '/cases', undefined, { range: 'bytes=0-0' });
    assert.deepEqual([status, headers['accept-ranges']], [200, undefined]);
  });

  for (const name of ['x.svg', 'x.html', 'x.xhtml', 'x.xml', 'x.js', 'x.pdf', 'x.bin'])
    it(`hands ${name} over as a file, whatever it says it is`, async (t) => {
      const work = await withCase(t);
      const page = Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      );
      const { body } = await upload(work, page, `type=a&name=${name}`, {
        'content-type': 'image/png',
      });
      const { headers } = await work.call('GET', `${work.at}/proof/${body.id}/file`);
      assert.equal(headers['content-type'], 'application/octet-stream');
      assert.match(String(headers['content-disposition']), /^attachment; /);
    });

  it('is 404 for a proof without one, for one that is gone, and for nobody', async (t) => {
    const { call, at, one, path } = await withFile(t);
    const text = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    assertProblem(await call('GET', `${at}/proof/${text.body.id}/file`), 404, 'not_found');
    assertProblem(await call('GET', `${at}/proof/${randomUUID()}/file`), 404, 'not_found');
    rmSync(path);
    assertProblem(await call('GET', `${one}/file`), 404, 'not_found');
  });
});

describe('a proof that is about a file', () => {
  it('by hand is adopted with the hash of the file, and verified as it stands', async (t) => {
    const work = await withCase(t);
    put(work, 'shot.png', SHOT);
    work.write('proof/shot.md', byHand('verified: true\n'));
    const [proof] = await proofs(work);
    assert.deepEqual(
      [proof?.file, proof?.file_sha256, proof?.content, proof?.verified],
      ['shot.png', sha256(SHOT), 'The list.', true],
    );
    assert.match(work.read('proof/shot.md'), new RegExp(`^file_sha256: ${sha256(SHOT)}$`, 'm'));
    assert.deepEqual(told(work.events), ['proof_created', 'proof_updated true']);
    assert.deepEqual(await problems(work), []);
  });

  it('with no hash yet, as the API writes that, is given one', async (t) => {
    const work = await withCase(t);
    put(work, 'shot.png', SHOT);
    work.write('proof/shot.md', '---\ntype: shot\nfile: shot.png\nfile_sha256: null\n---\n');
    work.write('proof/text.md', '---\ntype: log\nfile: null\nfile_sha256: null\n---\n');
    const all = await proofs(work);
    const shown = all.map(({ type, file, file_sha256 }) => [type, file, file_sha256]);
    assert.deepEqual(shown.toSorted(), [
      ['log', null, null],
      ['shot', 'shot.png', sha256(SHOT)],
    ]);
    const of = all.find(({ file }) => file !== null)?.id;
    assert.equal((await work.call('GET', `${work.at}/proof/${of}/file`)).status, 200);
    assert.match(work.read('proof/shot.md'), new RegExp(`^file_sha256: ${sha256(SHOT)}$`, 'm'));
    assert.deepEqual(await problems(work), []);
  });

  it('is not verified any more once its file is another, or its text', async (t) => {
    const work = await withFile(t);
    const { call, at, one, path, record, read, write, events } = work;
    for (const change of [
      () => writeFileSync(path, 'another'),
      () => write(record, `${read(record)}\nMore.\n`),
      () => call('PATCH', one, { content: 'Other.' }),
    ]) {
      const verified = await call<Proof>('PUT', `${one}/verify`);
      assert.equal(verified.body.verified, true, verified.text);
      events.length = 0;
      await change();
      const [now] = await proofs(work);
      assert.deepEqual([now?.verified, now?.file_sha256], [false, sha256(readFileSync(path))]);
      assert.match(read(record), /^verified: false$/m);
      assert.deepEqual(told(events), ['proof_updated false']);
      assert.equal((await call<Gate>('GET', `${at}/proof/gate`)).body.satisfied, false);
    }
    const stale = { 'if-match': tagFor(read(record)) };
    writeFileSync(path, 'yet another');
    assertProblem(await call('PUT', `${one}/verify`, undefined, stale), 412, 'precondition_failed');
  });

  it('proves nothing while its file is gone, is told, and holds again once it is back', async (t) => {
    const work = await withFile(t);
    const { call, at, one, path, record, read } = work;
    await call('PUT', `${at}/state`, { state: 'VERIFYING' });
    await call('PUT', `${one}/verify`);
    const before = read(record);
    rmSync(path);
    await eventually(async () =>
      assert.deepEqual(await problems(work), [
        ['proof_file', record],
        ['gate_not_satisfied', 'case.md'],
      ]),
    );
    assert.equal((await call<Gate>('GET', `${at}/proof/gate`)).body.satisfied, false);
    assertProblem(await call('PUT', `${one}/verify`), 409, 'unreadable_record');
    assert.equal(read(record), before, 'the record is left as it is');
    await work.running.restart();
    assert.equal((await proofs(work))[0]?.verified, false);
    writeFileSync(path, SHOT);
    assert.equal((await proofs(work))[0]?.verified, true);
    assert.deepEqual(await problems(work), []);
    assert.equal((await call<Case>('GET', at)).body.state, 'RESOLVED');
  });

  it('has no file that leads elsewhere, is too large, or is a record', async (t) => {
    const work = await withCase(t);
    for (const name of ['../case.md', '/etc/passwd', '.hidden', 'a/b.png', 'notes.md', '..']) {
      work.write('proof/shot.md', byHand().replace('shot.png', JSON.stringify(name)));
      assert.deepEqual(await problems(work), [['not_a_record', 'proof/shot.md']], name);
    }
    work.write('proof/shot.md', byHand());
    put(work, 'shot.png', Buffer.alloc(26_214_401));
    assert.deepEqual(await problems(work), [['proof_file', 'proof/shot.md']]);
    rmSync(join(work.dir, 'proof/shot.png'));
    mkdirSync(join(work.dir, 'proof/shot.png'));
    assert.deepEqual(await problems(work), [['proof_file', 'proof/shot.md']]);
  });

  it('goes with its record when that is deleted, into .dossier/undo', async (t) => {
    const work = await withFile(t);
    const { call, one, path, running } = work;
    assert.equal((await call('DELETE', one)).status, 204);
    assert.equal(existsSync(path), false);
    const undo = join(running.workspace, '.dossier/undo');
    const kept = readdirSync(undo, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.png'),
    );
    assert.deepEqual(
      kept.map((name) => readFileSync(join(undo, name)).equals(SHOT)),
      [true],
    );
    assert.deepEqual(await problems(work), []);
  });

  it('stays when another record is about it too', async (t) => {
    const work = await withFile(t);
    work.write('proof/more.md', byHand().replace('shot.png', work.proof.file ?? ''));
    assert.equal((await proofs(work)).length, 2);
    await work.call('DELETE', work.one);
    assert.equal(existsSync(work.path), true);
    assert.deepEqual(await problems(work), []);
  });

  it('is in the export, and is the same after a restart without being read again', async (t) => {
    const work = await withFile(t);
    const { entries } = await readExport((await work.call('GET', `${work.at}/export`)).bytes);
    assert.ok(entries.get(`${work.item.path}/proof/${work.proof.file}`)?.bytes.equals(SHOT));
    await sweepWorkspace(work.running.service.store);
    await work.running.restart();
    const [file] = (await work.call<Proof[]>('GET', `${work.at}/proof`)).body;
    assert.deepEqual(file, work.proof);
  });
});

describe('a file in proof/ that no proof is about', () => {
  it('is told by the Work item, diagnostics and check, until a record names it', async (t) => {
    const work = await withCase(t);
    put(work, 'shot.png', SHOT);
    for (const left of [
      '.DS_Store',
      'shot.png~',
      'shot.png.part',
      '#x.png#',
      'x.md.orig',
      'Thumbs.db',
    ])
      put(work, left, 'x');
    assert.deepEqual(await problems(work), [['unknown_file', 'proof/shot.png']]);
    const { body } = await work.call<{ code: string }[]>('GET', '/api/diagnostics');
    assert.deepEqual(
      body.map(({ code }) => code),
      ['unknown_file'],
    );
    const { findings } = await checkWorkspace(layoutOf(work.running.workspace), async () => []);
    const found = findings.filter(({ code }) => code === 'unknown_file');
    assert.deepEqual(
      found.map(({ severity }) => severity),
      ['warning'],
    );
    work.write('proof/shot.md', byHand());
    assert.deepEqual(await problems(work), []);
  });
});
