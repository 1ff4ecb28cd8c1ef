/** The command as it ships, beside a daemon, and killed at any point. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { idOfText } from '../../store/base/names.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER, startDaemon } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { filesOf } from '../helpers/workspace.ts';
import { exportOf } from '../helpers/zip.ts';

const ITEMS = 120;

const FILES = Object.fromEntries(
  Array.from({ length: ITEMS }, (_, at) => {
    const id = idOfText(String(at));
    const dir = `cases/2026-${String((at % 12) + 1).padStart(2, '0')}/item-${id.slice(0, 8)}`;
    const matter = `id: ${id}\ntitle: Item ${at}\ntype: bug\nstate: OPEN\ncreated_at: 2026-11-01T00:00:00.000Z`;
    return [
      [`${dir}/case.md`, `---\n${matter}\n---\n`],
      [`${dir}/memory/notes.md`, `Note ${at}\n`],
    ];
  }).flat(),
);

const startImport = (t: TestContext, workspace: string, source: string): ChildProcess => {
  const args = [DOSSIER, 'import', source, '--workspace', workspace];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  killAtEnd(t, child);
  return child;
};

const output = async (child: ChildProcess): Promise<{ code: unknown; said: string }> => {
  const streams = [child.stdout, child.stderr].map((stream) => stream?.toArray());
  const [code] = await once(child, 'exit');
  const parts = await Promise.all(streams);
  return { code, said: Buffer.concat(parts.flatMap((chunks) => chunks ?? [])).toString() };
};

const zipAt = (t: TestContext): string => {
  const path = join(temporaryDirectory(t), 'export.zip');
  writeFileSync(path, exportOf(FILES));
  return path;
};

/** Whatever is there of a Work item is all of it. */
const assertWhole = (workspace: string): number => {
  if (!existsSync(join(workspace, 'cases'))) return 0;
  const found = filesOf(join(workspace, 'cases'));
  for (const [path, text] of found) assert.equal(text, FILES[`cases/${path}`]);
  const dirs = [...found.keys()].filter((path) => path.endsWith('/case.md'));
  assert.equal(found.size, 2 * dirs.length);
  return dirs.length;
};

const countBelow = (dir: string, name: RegExp): number => {
  try {
    return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) => name.test(path))
      .length;
  } catch {
    // Not there yet, or moved away while it was read.
    return 0;
  }
};

const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

/** Ends the import as soon as this holds; false when it ended before. */
const killWhen = async (
  child: ChildProcess,
  holds: () => boolean,
  by: NodeJS.Signals = 'SIGKILL',
): Promise<boolean> => {
  const exited = once(child, 'exit');
  while (isRunning(child) && !holds()) await nextTurn();
  child.kill(by);
  const [code, signal] = await exited;
  return signal === by || code === 1;
};

describe('dossier import', () => {
  it('is refused while a daemon runs, which it names, and does nothing to it', async (t) => {
    const workspace = temporaryDirectory(t);
    const daemon = await startDaemon(t, ['--workspace', workspace]);
    const before = filesOf(workspace);
    const { code, said } = await output(startImport(t, workspace, zipAt(t)));
    assert.equal(code, 1);
    assert.match(
      said,
      new RegExp(
        `held by process ${daemon.process.pid} .*${daemon.url}.*Nothing was imported\\.\\n$`,
      ),
    );
    assert.deepEqual(filesOf(workspace), before);
    assert.equal((await fetch(`${daemon.url}/health`)).status, 200);
  });

  it('is run again after a kill at any point, and nothing is half there in between', async (t) => {
    const workspace = temporaryDirectory(t);
    const source = zipAt(t);
    const staged = (count: number) => () =>
      countBelow(join(workspace, '.dossier/tmp'), /case\.md$/) >= count;
    const moved = (count: number) => () =>
      countBelow(join(workspace, 'cases'), /item-[0-9a-f]{8}$/) >= count;
    let kills = 0;
    for (const point of [staged(1), staged(ITEMS / 2), staged(ITEMS), moved(1), moved(ITEMS / 2)]) {
      kills += (await killWhen(startImport(t, workspace, source), point)) ? 1 : 0;
      assertWhole(workspace);
    }
    assert.ok(kills >= 2, 'the staging at least was cut off');
    const { code, said } = await output(startImport(t, workspace, source));
    assert.equal(code, 0, said);
    assert.equal(assertWhole(workspace), ITEMS);
    assert.deepEqual(readdirSync(join(workspace, '.dossier/tmp')), []);
    const again = await output(startImport(t, workspace, source));
    assert.match(again.said, /Imported 0 Work items.*\nAlready here, identical: 120 Work items/);
    const daemon = await startDaemon(t, ['--workspace', workspace]);
    const cases = (await (await fetch(`${daemon.url}/cases`)).json()) as unknown[];
    assert.equal(cases.length, ITEMS);
    assert.equal(await (await fetch(`${daemon.url}/api/diagnostics`)).text(), '[]');
  });

  it('leaves nothing when it is stopped, or has done all of it before', async (t) => {
    const workspace = temporaryDirectory(t);
    const isStaging = (): boolean => countBelow(join(workspace, '.dossier/tmp'), /case\.md$/) > 0;
    const stopped = await killWhen(startImport(t, workspace, zipAt(t)), isStaging, 'SIGINT');
    assert.equal(assertWhole(workspace), stopped ? 0 : ITEMS);
    assert.deepEqual(readdirSync(join(workspace, '.dossier/tmp')), []);
    assert.equal(existsSync(join(workspace, '.dossier/owner.json')), false);
  });

  it('ends with 2 for a wrong command line, and with 1 and a sentence for a wrong file', async (t) => {
    const workspace = temporaryDirectory(t);
    const wrong = spawn(process.execPath, [DOSSIER, 'import'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    assert.equal((await output(wrong)).code, 2);
    const { code, said } = await output(startImport(t, workspace, DOSSIER));
    assert.equal(code, 1);
    assert.match(said, /^dossier: .* contains nothing that can be imported\. .*\n$/);
  });
});

describe('its own chunk', () => {
  it('holds yauzl: no other command loads it', () => {
    assert.doesNotMatch(readFileSync(DOSSIER, 'utf8'), /end of central directory/i);
  });
});
