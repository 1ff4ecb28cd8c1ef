import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import type { Case } from '../../store/records/case.ts';
import { readExport } from '../helpers/exported.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type TinyDisk, tinyDisk } from '../helpers/tiny-disk.ts';
import { assertProblem, fingerprint, told, type WithCase, withCase } from '../helpers/work-item.ts';

const LONG = 'x'.repeat(200_000);

/** A workspace on a small disk of its own, with a description that takes some room. */
const onTinyDisk = async (
  t: TestContext,
  options: { state?: string } = {},
): Promise<(WithCase & { disk: TinyDisk }) | undefined> => {
  const disk = tinyDisk(t, 8192);
  if (disk === undefined) return undefined;
  const { TMPDIR } = process.env;
  process.env.TMPDIR = disk.dir;
  try {
    return { ...(await withCase(t, { description: `old ${LONG}` }, options)), disk };
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
};

/** Eight changes, each done or refused; the title of the last that was done. */
const writeUntilFull = async ({
  call,
  at,
  read,
  events,
}: WithCase): Promise<string | undefined> => {
  const old = read('case.md');
  const titles: string[] = [];
  for (const n of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const body = { title: `title ${n}`, description: `${n} ${LONG}` };
    const answer = await call<Case>('PUT', at, body);
    if (answer.status === 200) titles.push(body.title);
    else assertProblem(answer, 507, 'disk_full');
    const text = read('case.md');
    assert.ok(text === old || text.endsWith(`${LONG}\n`), 'the file is whole');
    const shown = (await call<Case>('GET', at)).body;
    assert.deepEqual(
      [shown.title, shown.problems],
      [titles.at(-1) ?? 'Tax is off by one', undefined],
    );
  }
  assert.deepEqual(
    told(events),
    titles.map(() => 'case_updated'),
  );
  return titles.at(-1);
};

describe('a full disk', () => {
  it('refuses every write with 507, and leaves each old file whole', async (t) => {
    const work = await onTinyDisk(t);
    if (work === undefined) return;
    const { call, at, disk, running, events } = work;
    await call('PUT', `${at}/memory/notes.md`, 'old notes');
    const { body: proof } = await call<{ id: string }>('POST', `${at}/proof`, {
      type: 'log',
      content: 'ok',
    });
    events.length = 0;
    const before = fingerprint(running.workspace);
    disk.leave(0);
    for (const [method, path, body] of [
      ['PUT', at, { title: 'new' }],
      ['PUT', at, { description: `new ${LONG}` }],
      ['PUT', `${at}/state`, { state: 'BLOCKED' }],
      ['PUT', `${at}/memory/notes.md`, 'new notes'],
      ['PUT', `${at}/memory/other.md`, 'new notes'],
      ['POST', '/cases', { title: 'new', type: 'bug' }],
      ['POST', `${at}/proof`, { type: 'log', content: 'new' }],
      ['POST', `${at}/proof/checklist`, { description: 'd', type: 'log', required: true }],
      ['PUT', `${at}/proof/${proof.id}/verify`, undefined],
    ] as const)
      assertProblem(await call(method, path, body), 507, 'disk_full');
    assert.deepEqual(fingerprint(running.workspace), before);
    assert.deepEqual(readdirSync(join(running.workspace, '.dossier/tmp')), []);
    assert.deepEqual(events, []);
    assert.equal((await call<Case>('GET', at)).status, 200, 'reading goes on');
    disk.free();
    assert.equal((await call('PUT', at, { title: 'new' })).status, 200, 'and so does writing');
    assert.deepEqual(told(events), ['case_updated']);
  });

  it('is told by the diagnostics, of the workspace and of the state directory', async (t) => {
    const state = tinyDisk(t, 512);
    if (state === undefined) return;
    const work = await onTinyDisk(t, { state: join(state.dir, 'state') });
    if (work === undefined) return;
    const { call, disk, running } = work;
    const problems = async (path = ''): Promise<string[]> =>
      (await call<FileProblem[]>('GET', `/api/diagnostics${path}`)).body.map(
        ({ file, code, message }) => `${file} ${code} ${message}`,
      );
    assert.deepEqual(await problems(), []);
    disk.leave(0);
    const [told = '', ...others] = await problems();
    assert.match(told, /^\. unwritable The workspace \S+ is on a disk that is full\. /);
    assert.deepEqual(others, []);
    assert.deepEqual(await problems('?path=cases'), [], 'not a problem of these files');
    disk.free();
    state.leave(0);
    assert.match((await problems()).join('\n'), /^\.\.\S+\/state unwritable .* disk is full .*$/);
    state.free();
    assert.deepEqual(await problems(), []);
    renameSync(join(state.dir, 'state'), join(state.dir, 'away'));
    const lost = /\/state unwritable .* was removed or replaced .*$/;
    assert.match((await problems()).join('\n'), lost);
    mkdirSync(join(state.dir, 'state'), { mode: 0o700 });
    writeFileSync(join(state.dir, 'state/key'), Buffer.alloc(32));
    assert.match((await problems()).join('\n'), lost);
    rmSync(join(state.dir, 'state'), { recursive: true });
    renameSync(join(state.dir, 'away'), join(state.dir, 'state'));
    assert.deepEqual(await problems(), []);
    assert.deepEqual(readdirSync(join(running.workspace, '.dossier/tmp')), []);
  });

  it('is not told of a state directory because the workspace is away', async (t) => {
    const state = join(temporaryDirectory(t), 'state');
    const { call, running } = await withCase(t, {}, { state });
    const away = `${running.workspace}-away`;
    renameSync(running.workspace, away);
    const told = await call<FileProblem[]>('GET', '/api/diagnostics');
    renameSync(away, running.workspace);
    assert.deepEqual(
      told.body.filter(({ code }) => code === 'unwritable').map(({ file }) => file),
      ['.'],
    );
  });

  for (const kib of [196, 200, 204, 208])
    it(`attaches a file with its record, or nothing of it, with ${kib} KiB left`, async (t) => {
      const work = await onTinyDisk(t);
      if (work === undefined) return;
      const { call, at, disk, dir } = work;
      // It is staged, and then copied beside its record.
      const bytes = Buffer.alloc(102_400, 'x');
      disk.leave(kib);
      const upload = `${at}/proof/files?type=shot&name=shot.png`;
      const answer = await call('POST', upload, bytes, { 'content-type': 'image/png' });
      const isDone = answer.status === 201;
      if (!isDone)
        assert.match(assertProblem(answer, 507, 'disk_full').detail, /^Nothing was changed\./);
      const files = readdirSync(dir, { recursive: true }).filter((name) => /shot-/.test(`${name}`));
      assert.equal(files.length, isDone ? 2 : 0, files.join());
      disk.free();
      assert.deepEqual((await call('GET', '/api/diagnostics')).body, []);
    });

  it('refuses only an export that has to copy a large file, and nothing of it stays', async (t) => {
    const work = await onTinyDisk(t);
    if (work === undefined) return;
    const { call, disk, write } = work;
    disk.leave(0);
    await readExport((await call('GET', '/api/export')).bytes);
    disk.free();
    write('sessions/one/events.ndjson', 'x'.repeat(2_000_000));
    disk.leave(1000);
    assertProblem(await call('GET', '/api/export'), 507, 'disk_full');
    disk.free();
    disk.leave(2500);
    await readExport((await call('GET', '/api/export')).bytes);
    await readExport((await call('GET', '/api/export')).bytes);
  });

  for (const kib of [4, 8, 60, 120, 196, 200, 208, 300, 400, 460, 700])
    it(`writes all of a record or nothing, with ${kib} KiB left`, async (t) => {
      const work = await onTinyDisk(t);
      if (work === undefined) return;
      const { call, at, disk, running, events } = work;
      disk.leave(kib);
      const title = (await writeUntilFull(work)) ?? 'Tax is off by one';
      const before = told(events);
      disk.free();
      await running.restart();
      assert.equal((await call<Case>('GET', at)).body.title, title);
      assert.deepEqual(told(events), before, 'a restart adds none');
      assert.ok(!running.logged.some(({ message }) => /damaged/.test(message)));
    });

  it('keeps a change by hand that it cannot note yet, and tells it once there is room', async (t) => {
    const work = await onTinyDisk(t);
    if (work === undefined) return;
    const { call, at, disk, running, read, events, dir } = work;
    disk.leave(0);
    const offset = readFileSync(join(dir, 'case.md')).indexOf('Tax');
    // In place, for there is no room for another file: three letters over three.
    const file = openSync(join(dir, 'case.md'), 'r+');
    writeSync(file, 'Fax', offset);
    closeSync(file);
    assert.equal((await call<Case>('GET', at)).body.title, 'Fax is off by one');
    disk.free();
    await running.restart();
    assert.match(read('case.md'), /^title: Fax is off by one$/m);
    assert.deepEqual(told(events), ['case_updated']);
    assert.ok(existsSync(dir));
  });
});
