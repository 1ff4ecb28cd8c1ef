import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type ExportRun, startExport } from '../../../store/archive/export.ts';
import { CHUNK_BYTES, WINDOW } from '../../../store/archive/export-outbox.ts';
import { layoutOf } from '../../../store/layout.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { readExport } from '../../helpers/exported.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { filesOf } from '../../helpers/workspace.ts';

const NOW = new Date('2026-03-04T05:06:07.089Z');

const workspaceOf = (t: TestContext, files: Record<string, string>): string => {
  const root = temporaryDirectory(t);
  for (const [path, text] of Object.entries({ '.dossier/tmp/x': '', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
};

const start = (t: TestContext, root: string): ExportRun => {
  const archive = startExport(layoutOf(root), NOW);
  atEnd(t, () => archive.close());
  return archive;
};

const exportOf = async (t: TestContext, root: string) => {
  const parts: Uint8Array[] = [];
  for await (const part of start(t, root).chunks()) parts.push(part);
  return readExport(Buffer.concat(parts));
};

/** Open files of this process at or below a directory. */
const openBelow = (dir: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dir) ? [path] : [];
    } catch {
      return [];
    }
  });

/** Runs a program that writes below `path` until `work` is done. */
const whileRunning = async (
  program: string,
  path: string,
  work: () => Promise<void>,
): Promise<void> => {
  const script = `const fs = require('node:fs'); const path = process.argv[1]; let n = 0;
    process.stdout.write('ready'); ${program}`;
  const writer = spawn(process.execPath, ['-e', script, path]);
  const ended = once(writer, 'exit');
  try {
    await once(writer.stdout, 'data');
    await work();
    assert.equal(writer.exitCode, null, 'it wrote to the end');
  } finally {
    writer.kill('SIGKILL');
    await ended;
  }
};

/** More than may be under way, also when it is compressed. */
const LARGE = randomBytes(CHUNK_BYTES * WINDOW * 1.5).toString('hex');

describe('startExport', () => {
  it('makes a zip that holds the tree, with a manifest that says so', async (t) => {
    const root = workspaceOf(t, {
      'workspace.md': 'settings',
      'cases/2026-01/ä/case.md': 'case',
      'cases/2026-01/ä/sessions/one/session.md': 'session',
      'cases/2026-01/ä/sessions/one/events.ndjson': LARGE,
      'empty.md': '',
    });
    const { entries, manifest } = await exportOf(t, root);
    const found = [...entries].map(([path, { bytes }]): [string, string] => [path, `${bytes}`]);
    assert.deepEqual(new Map(found.toSorted()), new Map([...filesOf(root)].toSorted()));
    assert.equal(manifest.format, 'dossier-export/1');
    assert.equal(manifest.generated_at, NOW.toISOString());
    assert.deepEqual(manifest.counts, { cases: 1, sessions: 1, files: 5 });
    assert.deepEqual(manifest.skipped, []);
  });

  it('makes the same zip of the same files', async (t) => {
    const root = workspaceOf(t, { 'b.md': 'b', 'a/c.md': 'c', 'a.md': 'a' });
    const [one, other] = [await exportOf(t, root), await exportOf(t, root)];
    assert.deepEqual([...one.entries.keys()], [...other.entries.keys()]);
    assert.deepEqual(one.manifest, other.manifest);
  });

  for (const [way, pause, expected, save] of [
    // The writer may be held up, for as long as the machine likes, after it has emptied the file.
    ['in place', 45, /^(\d?)\1{0,4999}$/, 'fs.writeFileSync(path, text)'],
    [
      'by renaming',
      0,
      /^(\d)\1{4999}$/,
      'fs.writeFileSync(path + ".tmp", text); fs.renameSync(path + ".tmp", path)',
    ],
  ] as const)
    it(`mixes no two states of a file that another program rewrites again and again ${way}`, async (t) => {
      const root = workspaceOf(t, { 'cases/a/case.md': '0'.repeat(5000) });
      const save_each = `setInterval(() => { const text = String(n++ % 10).repeat(5000); ${save} }, ${pause})`;
      await whileRunning(save_each, join(root, 'cases/a/case.md'), async () => {
        for (let round = 0; round < 5; round += 1) {
          const { entries } = await exportOf(t, root);
          assert.match(`${entries.get('cases/a/case.md')?.bytes}`, expected);
        }
      });
    });

  it('fits its manifest while another program writes without a pause', async (t) => {
    const root = workspaceOf(t, { 'cases/a/case.md': 'x', 'cases/a/log.ndjson': LARGE });
    const write = `for (;;) {
      fs.writeFileSync(path + '/case.md', String(n++).repeat(1000));
      fs.appendFileSync(path + '/log.ndjson', 'more\\n');
      fs.writeFileSync(path + '/new-' + (n % 100), 'x');
      fs.rmSync(path + '/new-' + ((n + 50) % 100), { force: true });
    }`;
    await whileRunning(write, join(root, 'cases/a'), async () => {
      for (let round = 0; round < 2; round += 1) {
        const { entries } = await exportOf(t, root);
        const log = `${entries.get('cases/a/log.ndjson')?.bytes}`;
        assert.ok(log.startsWith(LARGE), 'the beginning of the log is there');
        assert.match(log.slice(LARGE.length), /^(more\n)*$/);
      }
    });
  });

  it('makes no more than is read, and leaves nothing open once it is closed', async (t) => {
    const root = workspaceOf(t, { 'log.ndjson': LARGE, 'other.ndjson': LARGE });
    const archive = start(t, root);
    const chunks = archive.chunks();
    assert.equal((await chunks.next()).done, false);
    await eventually(() => assert.match(openBelow(root).join(), /\(deleted\)/));
    await archive.close();
    assert.deepEqual(openBelow(root), []);
    assert.deepEqual(readdirSync(join(root, '.dossier/tmp')), ['x']);
    await assert.rejects(async () => {
      while ((await chunks.next()).done !== true);
    }, /The export was aborted/);
  });

  it('leaves nothing open when its reader stops reading', async (t) => {
    const root = workspaceOf(t, { 'log.ndjson': LARGE });
    for await (const _ of start(t, root).chunks()) break;
    assert.deepEqual(openBelow(root), []);
  });

  it('hands on the error that it fails with', async (t) => {
    const root = join(temporaryDirectory(t), 'none');
    await assert.rejects(start(t, root).chunks().next(), { code: 'ENOENT' });
    assert.throws(() => readFileSync(root));
  });
});
