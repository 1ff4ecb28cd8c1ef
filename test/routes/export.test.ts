import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Compile } from 'typebox/compile';
import { CHUNK_BYTES, WINDOW } from '../../store/archive/export-outbox.ts';
import { Manifest } from '../../store/records/manifest.ts';
import { atEnd } from '../helpers/at-end.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { readExport } from '../helpers/exported.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import type { Running } from '../helpers/service.ts';
import { assertProblem, withCase } from '../helpers/work-item.ts';
import { filesOf } from '../helpers/workspace.ts';

/** An export that has begun, of a workspace that is larger than what may be under way: it cannot end unread. */
const begin = async (t: TestContext, { service, workspace }: Running) => {
  writeFileSync(join(workspace, 'large.bin'), randomBytes(CHUNK_BYTES * WINDOW * 2));
  const life = new AbortController();
  atEnd(t, () => life.abort());
  const chunks = service.exporter.export().open(life.signal)[Symbol.asyncIterator]();
  const first = await chunks.next();
  assert.equal(first.done, false);
  const rest = async (): Promise<Buffer> => {
    const parts: Uint8Array[] = [first.value];
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      parts.push(next.value);
    return Buffer.concat(parts);
  };
  return { leave: () => life.abort(), rest };
};

describe('GET /api/export', () => {
  it('downloads the tree as it is, with a manifest', async (t) => {
    const { running, call, at, write } = await withCase(t, {
      title: 'Zwölf Äpfel',
      description: 'ü',
    });
    const { workspace } = running;
    await call('PUT', `${at}/memory/notes.md`, 'Notes');
    await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    await call('POST', `${at}/sessions`, { type: 'implementing' });
    await eventually(async () => {
      const { body } = await call<{ status: string }[]>('GET', `${at}/sessions`);
      assert.equal(body[0]?.status, 'plan_ready');
    });
    const { body: sessions } = await call<{ id: string }[]>('GET', `${at}/sessions`);
    await call('PUT', `${at}/sessions/${sessions[0]?.id}/comments`, '> a\n\nWhy?\n');
    write('memory/日本 語.md', 'by hand');
    symlinkSync('/etc', join(workspace, 'cases/link'));
    const answer = await call('GET', '/api/export');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/zip');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.match(
      String(answer.headers['content-disposition']),
      new RegExp(
        `^attachment; filename="dossier-${basename(workspace)}-\\d{4}-\\d\\d-\\d\\d\\.zip"$`,
      ),
    );
    const { entries, manifest } = await readExport(answer.bytes);
    const expected = filesOf(workspace);
    assert.ok([...expected.keys()].some((path) => path.endsWith('sessions/lock.md')));
    for (const path of expected.keys())
      if (path.endsWith('sessions/lock.md')) expected.delete(path);
    const found = [...entries].map(([path, { bytes }]): [string, string] => [path, `${bytes}`]);
    assert.ok(found.some(([path]) => path.endsWith('comments.md')));
    assert.deepEqual(new Map(found.toSorted()), new Map([...expected].toSorted()));
    assert.ok(Compile(Manifest).Check(manifest));
    assert.deepEqual(manifest.counts, { cases: 1, sessions: 1, files: expected.size });
    assert.deepEqual(manifest.skipped, [{ path: 'cases/link', reason: 'it is a symbolic link' }]);
  });

  it('says in answer to HEAD what it would send', async (t) => {
    const { call } = await withCase(t);
    const [head, get] = [await call('HEAD', '/api/export'), await call('GET', '/api/export')];
    assert.equal(head.status, 200);
    assert.equal(head.bytes.length, 0);
    for (const name of ['content-type', 'content-disposition', 'cache-control'])
      assert.equal(head.headers[name], get.headers[name]);
  });

  it('refuses other sites and keys that are not valid', async (t) => {
    const { call } = await withCase(t);
    const ask = (headers: Record<string, string>) => call('GET', '/api/export', undefined, headers);
    assertProblem(await ask({ origin: 'http://example.org' }), 403, 'not_local');
    assertProblem(await ask({ host: 'example.org' }), 403, 'not_local');
    assertProblem(await ask({ authorization: 'Bearer wrong' }), 401, 'unauthorized');
  });

  it('serves two at once and refuses a third until one has ended', async (t) => {
    const { running, call } = await withCase(t);
    const [one, other] = [await begin(t, running), await begin(t, running)];
    const refused = await call('GET', '/api/export');
    assertProblem(refused, 429, 'too_many_exports');
    assert.equal(refused.headers['retry-after'], '5');
    one.leave();
    await eventually(async () => assert.equal((await call('HEAD', '/api/export')).status, 200));
    await eventually(async () => assert.equal((await call('GET', '/api/export')).status, 200));
    await readExport(await other.rest());
  });

  it('holds up no write, and fits its manifest', async (t) => {
    const { running, call, at, item, read } = await withCase(t);
    const { rest } = await begin(t, running);
    const before = read('case.md');
    const answer = await call('PUT', at, { title: 'Written meanwhile' });
    assert.equal(answer.status, 200);
    assert.equal((await call('POST', '/cases', { title: 'New', type: 'bug' })).status, 201);
    const { entries } = await readExport(await rest());
    const text = `${entries.get(`${item.path}/case.md`)?.bytes}`;
    assert.ok([before, read('case.md')].includes(text), 'the old one or the new one');
  });

  it('is broken off when the daemon stops', async (t) => {
    const { running } = await withCase(t);
    const { rest } = await begin(t, running);
    await running.stop();
    await assert.rejects(rest, /The export was aborted/);
  });
});

describe('GET /cases/:id/export', () => {
  it('downloads that Work item alone, where it stands, so that it can be brought in again', async (t) => {
    const { running, call, at, item, dir } = await withCase(t);
    await call('PUT', `${at}/memory/notes.md`, 'Notes');
    await call('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    await call('POST', '/cases', { title: 'Another', type: 'bug' });
    const answer = await call('GET', `${at}/export`);
    assert.equal(answer.status, 200);
    assert.match(
      String(answer.headers['content-disposition']),
      new RegExp(`^attachment; filename="dossier-${basename(dir)}-\\d{4}-\\d\\d-\\d\\d\\.zip"$`),
    );
    const { entries, manifest } = await readExport(answer.bytes);
    const expected = [...filesOf(running.workspace).keys()].filter((path) =>
      path.startsWith(`${item.path}/`),
    );
    assert.ok(expected.length >= 3);
    assert.deepEqual([...entries.keys()].toSorted(), expected.toSorted());
    assert.deepEqual(manifest.counts, { cases: 1, sessions: 0, files: expected.length });
    const zip = join(temporaryDirectory(t), 'one.zip');
    writeFileSync(zip, answer.bytes);
    await call('DELETE', at);
    await running.stop();
    const { workspace } = running;
    const ran = spawnSync(process.execPath, [DOSSIER, 'import', zip, '--workspace', workspace]);
    assert.equal(ran.status, 0, `${ran.stderr}`);
    await running.restart();
    assert.equal((await running.call<{ title: string }>('GET', at)).body.title, item.title);
  });

  it('is 404 for nobody, and one of those that run at once', async (t) => {
    const { running, call, at } = await withCase(t);
    assertProblem(await call('GET', `/cases/${randomUUID()}/export`), 404, 'not_found');
    const [one, other] = [await begin(t, running), await begin(t, running)];
    assertProblem(await call('GET', `${at}/export`), 429, 'too_many_exports');
    one.leave();
    other.leave();
  });
});
