import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { importInto } from '../../../lib/cli/import.ts';
import { layoutOf } from '../../../store/layout.ts';
import { allItems, itemsOf } from '../../../store/reconcile/items.ts';
import { makeWorkspaceFiles } from '../../../store/workspace/workspace-files.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { callOf } from '../../helpers/call-of.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { tinyDisk } from '../../helpers/tiny-disk.ts';
import { filesOf, openRoot } from '../../helpers/workspace.ts';
import { exportOf, manifestOf, zipOf } from '../../helpers/zip.ts';

const caseText = (id: string, title = 'One'): string =>
  `---\nid: ${id}\ntitle: ${title}\ntype: bug\nstate: OPEN\ncreated_at: 2026-11-01T00:00:00.000Z\n---\n\nText\n`;

const ONE = '11111111-1111-4111-8111-111111111111';
const TWO = '22222222-2222-4222-8222-222222222222';

const FILES = {
  '.gitattributes': '* -text\n',
  '.gitignore': '.dossier/\n',
  'cases/2026-11/one-11111111/case.md': caseText(ONE),
  'cases/2026-11/one-11111111/memory/notes.md': 'A note\n',
  'cases/2026-11/two-22222222/case.md': caseText(TWO, 'Two'),
  'cases/2026-11/README.md': 'Of November\n',
  'memory/global.md': 'Global\n',
  'workspace.md': '---\nprovider: manual\n---\n',
};

interface Ended {
  code: number;
  said: string;
}

const run = async (workspace: string, source: string, ...flags: string[]): Promise<Ended> => {
  const call = callOf(['import', source, '--workspace', workspace, ...flags], {});
  const said: string[] = [];
  const code = await importInto(call, (line) => said.push(line));
  return { code, said: said.join('\n') };
};

const fileAt = (t: TestContext, name: string, text: string): string => {
  const dir = temporaryDirectory(t);
  writeFiles(dir, { [name]: text });
  return join(dir, name);
};

const zipAt = (t: TestContext, bytes: Buffer): string => {
  const path = join(temporaryDirectory(t), 'export.zip');
  writeFileSync(path, bytes);
  return path;
};

const unpacked = (
  t: TestContext,
  files: Record<string, string>,
  manifest: object = manifestOf(files),
): string => {
  const dir = temporaryDirectory(t);
  writeFiles(dir, { ...files, 'manifest.json': JSON.stringify(manifest) });
  return dir;
};

const newWorkspace = (t: TestContext): string => join(temporaryDirectory(t), 'workspace');

const assertClean = (workspace: string): void => {
  assert.deepEqual(readdirSync(join(workspace, '.dossier/tmp')), []);
  assert.equal(existsSync(join(workspace, '.dossier/owner.json')), false);
};

/** Refused with a sentence; nothing but the workspace's own empty directories is there afterwards. */
const refuses = async (t: TestContext, source: string, pattern: RegExp): Promise<void> => {
  const workspace = newWorkspace(t);
  for (const flags of [[], ['--dry-run'], ['--keep-existing']]) {
    const attempt = run(workspace, source, ...flags);
    await assert.rejects(attempt, (error: Error) => {
      assert.equal(error.name, 'Refusal');
      assert.match(error.message, pattern);
      return true;
    });
    if (existsSync(workspace)) assert.deepEqual([...filesOf(workspace).keys()], []);
    if (existsSync(join(workspace, '.dossier'))) assertClean(workspace);
  }
};

const asMap = (files: Record<string, string>) => new Map(Object.entries(files).toSorted());
const sorted = (files: Map<string, string>) => new Map([...files].toSorted());

describe('import of an export', () => {
  it('brings every file into a new workspace, which can be opened then', async (t) => {
    const workspace = newWorkspace(t);
    const { code, said } = await run(workspace, zipAt(t, exportOf(FILES)));
    assert.equal(code, 0);
    assert.match(said, /Imported 2 Work items and 5 other files into /);
    assert.deepEqual(sorted(filesOf(workspace)), asMap(FILES));
    assertClean(workspace);
    const open = await openRoot(workspace);
    atEnd(t, () => open.close());
    assert.deepEqual(
      allItems(open.store)
        .map(({ id }) => id)
        .toSorted(),
      [ONE, TWO],
    );
    assert.deepEqual([...itemsOf(open.store).strangers], []);
  });

  it('does the same from the directory that it was unpacked to', async (t) => {
    const workspace = newWorkspace(t);
    const dir = unpacked(t, FILES);
    chmodSync(join(dir, 'memory/global.md'), 0o600);
    utimesSync(join(dir, 'memory/global.md'), 1, 1_700_000_000.25);
    assert.equal((await run(workspace, dir)).code, 0);
    assert.deepEqual(sorted(filesOf(workspace)), asMap(FILES));
    const { mode, mtimeMs } = statSync(join(workspace, 'memory/global.md'));
    assert.equal(mode & 0o777, 0o600);
    assert.equal(mtimeMs, 1_700_000_000_250);
  });

  it('keeps the times of a zip file, and takes none from the future', async (t) => {
    const parts = Object.entries({ 'a.md': 'a', 'b.md': 'b' });
    const [past, future] = [(40 << 9) | (2 << 5) | 3, (100 << 9) | (1 << 5) | 1];
    const bytes = zipOf([
      { name: 'a.md', data: 'a', date: past },
      { name: 'b.md', data: 'b', date: future },
      { name: 'manifest.json', data: JSON.stringify(manifestOf(Object.fromEntries(parts))) },
    ]);
    const workspace = newWorkspace(t);
    await run(workspace, zipAt(t, bytes));
    const time = (name: string): Date => statSync(join(workspace, name)).mtime;
    assert.equal(time('a.md').toISOString(), '2020-02-03T00:00:00.000Z');
    assert.ok(time('b.md').getTime() <= Date.now());
  });

  it('skips what is here byte for byte, wherever its Work item was moved to', async (t) => {
    const workspace = newWorkspace(t);
    const source = zipAt(t, exportOf(FILES));
    await run(workspace, source);
    renameSync(join(workspace, 'cases/2026-11/one-11111111'), join(workspace, 'cases/mine'));
    rmSync(join(workspace, 'cases/2026-11/two-22222222'), { recursive: true });
    const before = statSync(join(workspace, 'cases/mine/case.md'));
    const { code, said } = await run(workspace, source);
    assert.equal(code, 0);
    assert.match(said, /Imported 1 Work item into/);
    assert.match(said, /Already here, identical: 1 Work item and 5 other files/);
    assert.equal(statSync(join(workspace, 'cases/mine/case.md')).ino, before.ino);
    assert.equal(existsSync(join(workspace, 'cases/2026-11/one-11111111')), false);
    assert.equal(
      filesOf(workspace).get('cases/2026-11/two-22222222/case.md'),
      caseText(TWO, 'Two'),
    );
  });

  it('replaces the settings of a new workspace, and keeps them for undo', async (t) => {
    const workspace = temporaryDirectory(t);
    await makeWorkspaceFiles(layoutOf(workspace));
    const { said } = await run(workspace, zipAt(t, exportOf(FILES)));
    assert.match(
      said,
      /Replaced \.gitattributes, \.gitignore, workspace\.md, unchanged since dossier init/,
    );
    assert.deepEqual(sorted(filesOf(workspace)), asMap(FILES));
    const [day = ''] = readdirSync(join(workspace, '.dossier/undo'));
    assert.equal(readdirSync(join(workspace, '.dossier/undo', day)).length, 3);
  });

  it('works where .dossier is on another file system, and removes what a killed one left', async (t) => {
    const workspace = temporaryDirectory(t);
    mkdirSync(join(workspace, '.dossier'));
    if (tinyDisk(t, 4096, join(workspace, '.dossier')) === undefined) return;
    writeFiles(workspace, { '.dossier-import-0123abcd.tmp/cases/x/case.md': 'half' });
    await run(workspace, zipAt(t, exportOf(FILES)));
    assert.deepEqual(sorted(filesOf(workspace)), asMap(FILES));
    assert.deepEqual(readdirSync(workspace).toSorted(), [
      '.dossier',
      '.gitattributes',
      '.gitignore',
      'cases',
      'memory',
      'workspace.md',
    ]);
  });

  it('writes nothing where the disk is too small', async (t) => {
    const disk = tinyDisk(t, 2048);
    if (disk === undefined) return;
    const files = { 'memory/big.md': 'x'.repeat(4_000_000) };
    await assert.rejects(
      run(disk.dir, zipAt(t, exportOf(files))),
      /needs \d+ bytes, but the disk .* has \d+ left/,
    );
    assert.deepEqual([...filesOf(disk.dir).keys()], []);
  });

  it('says what it would do, and writes nothing, with --dry-run', async (t) => {
    const source = zipAt(t, exportOf(FILES));
    const absent = newWorkspace(t);
    const { code, said } = await run(absent, source, '--dry-run');
    assert.equal(code, 0);
    assert.match(said, /Would import 2 Work items and 5 other files into .*\nNothing was written/);
    assert.equal(existsSync(absent), false);
    const there = temporaryDirectory(t);
    writeFiles(there, { 'memory/global.md': 'Mine\n' });
    const tried = await run(there, source, '--dry-run');
    assert.equal(tried.code, 1);
    assert.match(tried.said, /Conflicts:\n {2}memory\/global\.md is here with other content/);
    assert.deepEqual([...filesOf(there).keys()], ['memory/global.md']);
    assert.equal(existsSync(join(there, '.dossier')), false);
  });
});

describe('conflicts of an import', () => {
  const HERE = {
    'cases/x/case.md': caseText(ONE, 'Mine'),
    'cases/2026-11/two-22222222': 'a file in the way',
    'memory/global.md': 'Mine\n',
    'workspace.md': '---\nprovider: runbook\n---\n',
  };

  it('are all found before anything is written', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, HERE);
    await assert.rejects(run(workspace, zipAt(t, exportOf(FILES))), ({ message }: Error) => {
      assert.deepEqual(message.split('\n'), [
        '4 conflicts, so nothing was imported:',
        '  cases/2026-11/one-11111111 is here at cases/x, and differs: cases/x/case.md',
        '  cases/2026-11/two-22222222 is here, and differs: cases/2026-11/two-22222222/case.md',
        '  memory/global.md is here with other content',
        '  workspace.md is here with other content',
        'Move these away, or keep them and import the rest with --keep-existing.',
      ]);
      return true;
    });
    assert.deepEqual(sorted(filesOf(workspace)), asMap(HERE));
    assertClean(workspace);
  });

  it('are left as they are with --keep-existing, and the rest comes in', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, HERE);
    const { code, said } = await run(workspace, zipAt(t, exportOf(FILES)), '--keep-existing');
    assert.equal(code, 0);
    assert.match(said, /Kept as they are:\n {2}cases\/2026-11\/one/);
    const { 'cases/2026-11/README.md': readme, 'workspace.md': _, ...rest } = FILES;
    const git = { '.gitattributes': rest['.gitattributes'], '.gitignore': rest['.gitignore'] };
    const expected = { ...HERE, 'cases/2026-11/README.md': readme, ...git };
    assert.deepEqual(sorted(filesOf(workspace)), asMap(expected));
  });

  it('are listed up to twenty', async (t) => {
    const workspace = temporaryDirectory(t);
    const names = Array.from({ length: 25 }, (_, at) => `memory/${at}.md`);
    writeFiles(workspace, Object.fromEntries(names.map((name) => [name, 'mine'])));
    const files = Object.fromEntries(names.map((name) => [name, 'theirs']));
    await assert.rejects(run(workspace, zipAt(t, exportOf(files))), ({ message }: Error) => {
      assert.match(message, /^25 conflicts.*\n( {2}memory.*\n){20} {2}and 5 more\n/);
      return true;
    });
  });

  it('are two Work items with one id in the import itself', async (t) => {
    const files = { 'cases/a/case.md': caseText(ONE), 'cases/b/case.md': caseText(ONE, 'Two') };
    const source = zipAt(t, exportOf(files));
    const workspace = newWorkspace(t);
    for (const flags of [[], ['--keep-existing']])
      await assert.rejects(
        run(workspace, source, ...flags),
        /cases\/b has the same id as cases\/a/,
      );
    assert.deepEqual([...filesOf(workspace).keys()], []);
  });

  it('are told of a file whose name every object has as a property', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, { constructor: 'Mine\n' });
    await assert.rejects(
      run(workspace, zipAt(t, exportOf({ ...FILES, constructor: 'Theirs\n' }))),
      /constructor is here with other content/,
    );
  });

  it('are what would become part of a Work item that is here', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, { 'cases/a/case.md': caseText(ONE) });
    const files = {
      'cases/a/b/case.md': caseText(TWO),
      'cases/a/proof/review-1.md': '---\ntype: review\nverified: true\n---\n',
    };
    await assert.rejects(
      run(workspace, zipAt(t, exportOf(files))),
      /cases\/a\/b would become part of the Work item cases\/a.*\n.*review-1\.md would become part/,
    );
  });

  it('are links in the way, and nothing is written behind them', async (t) => {
    const workspace = temporaryDirectory(t);
    const elsewhere = temporaryDirectory(t);
    symlinkSync(elsewhere, join(workspace, 'memory'));
    mkdirSync(join(workspace, 'cases'));
    symlinkSync(elsewhere, join(workspace, 'cases/2026-11'));
    await assert.rejects(run(workspace, zipAt(t, exportOf(FILES))), /cannot be placed here/);
    await run(workspace, zipAt(t, exportOf(FILES)), '--keep-existing');
    assert.deepEqual(readdirSync(elsewhere), []);
  });
});

describe('an export that is not whole', () => {
  const { files, ...rest } = manifestOf(FILES);

  it('is refused when a file is not what the manifest says', async (t) => {
    const changed = { ...FILES, 'memory/global.md': 'Glob@l\n' };
    const source = zipAt(t, exportOf(changed, manifestOf(FILES)));
    await refuses(t, source, /"memory\/global\.md" of .* does not match the manifest/);
    const longer = { ...FILES, 'memory/global.md': 'Global!!\n' };
    await refuses(
      t,
      zipAt(t, exportOf(longer, manifestOf(FILES))),
      /has 9 bytes, but 7 in the manifest/,
    );
    await refuses(t, unpacked(t, changed, manifestOf(FILES)), /"memory\/global\.md"/);
  });

  it('is refused when a file was added', async (t) => {
    const more = [{ name: 'memory/evil.md', data: 'x' }];
    await refuses(
      t,
      zipAt(t, exportOf(FILES, manifestOf(FILES), more)),
      /"memory\/evil\.md" is not in the manifest/,
    );
    const dir = unpacked(t, FILES);
    writeFiles(dir, { 'memory/evil.md': 'x' });
    await refuses(t, dir, /"memory\/evil\.md" is not in the manifest/);
  });

  it('is refused when a file is missing', async (t) => {
    const { 'memory/global.md': _, 'workspace.md': __, ...fewer } = FILES;
    await refuses(
      t,
      zipAt(t, exportOf(fewer, manifestOf(FILES))),
      /"memory\/global\.md" and 1 more of the manifest is missing in/,
    );
  });

  it('is refused when its manifest is missing, or cannot be believed', async (t) => {
    await refuses(t, zipAt(t, zipOf([{ name: 'a.md', data: 'x' }])), /has no manifest\.json/);
    const of = (manifest: object) => zipAt(t, exportOf(FILES, manifest));
    await refuses(t, zipAt(t, zipOf([{ name: 'manifest.json', data: '{' }])), /it is not JSON/);
    await refuses(
      t,
      of({ files, ...rest, counts: { ...rest.counts, cases: 1 } }),
      /counts 1 cases, but lists 2/,
    );
    await refuses(t, of({ files: [...files, files[0]], ...rest }), /names a file twice/);
    await refuses(t, of({ ...rest, files: 'all' }), /is invalid: \/files/);
  });

  it('is refused when it is of another format, and says what a newer one needs', async (t) => {
    const of = (format: unknown) => zipAt(t, exportOf(FILES, { files, ...rest, format }));
    await refuses(
      t,
      of('dossier-export/2'),
      /newer dossier.*reads "dossier-export\/2".*this one reads dossier-export\/1/,
    );
    await refuses(t, of('other/1'), /not an export of a workspace/);
    await refuses(t, of(undefined), /not an export of a workspace/);
  });

  it('is refused when it inflates past what it told', async (t) => {
    const bytes = zipOf([
      { name: 'memory/global.md', data: 'x'.repeat(1_000_000), size: 7 },
      {
        name: 'manifest.json',
        data: JSON.stringify(manifestOf({ 'memory/global.md': 'Global\n' })),
      },
    ]);
    await refuses(t, zipAt(t, bytes), /"memory\/global\.md" cannot be unpacked/);
  });

  it('is refused when a directory holds links, or was used as a workspace', async (t) => {
    const dir = unpacked(t, FILES);
    symlinkSync('/etc/passwd', join(dir, 'memory/link.md'));
    await refuses(t, dir, /"memory\/link\.md" is refused: it is a link/);
    const used = unpacked(t, FILES);
    mkdirSync(join(used, '.dossier'));
    await refuses(t, used, /has been used as a workspace/);
  });
});

describe('import', () => {
  it('refuses what is neither an export nor a project, and says what to do', async (t) => {
    const dir = temporaryDirectory(t);
    await refuses(t, join(dir, 'nothing'), /does not exist/);
    await refuses(t, dir, /contains nothing that can be imported/);
    for (const text of ['[]', ''])
      await refuses(
        t,
        fileAt(t, 'tasks.json', text),
        /contains nothing that can be imported\. Name the zip file.*\(dossier help export-and-import\).*dossier new --file FILE/,
      );
    writeFiles(dir, { 'workspace.md': '' });
    await refuses(t, dir, /is a workspace, not an export.*dossier serve/);
    await refuses(t, '/dev/null', /neither a file nor a directory/);
  });

  it('refuses a workspace that cannot be one', async (t) => {
    const dir = temporaryDirectory(t);
    writeFiles(dir, { file: '' });
    const source = zipAt(t, exportOf(FILES));
    for (const flags of [[], ['--dry-run']])
      await assert.rejects(
        run(join(dir, 'file'), source, ...flags),
        /file is a file, or below one/,
      );
  });

  it('refuses a workspace that another process holds, and names it', async (t) => {
    const root = temporaryDirectory(t);
    const open = await openRoot(root);
    atEnd(t, () => open.close());
    await assert.rejects(
      run(root, zipAt(t, exportOf(FILES))),
      new RegExp(`held by process ${process.pid} .*Nothing was imported\\.$`),
    );
    assert.deepEqual([...filesOf(root).keys()], []);
  });

  it('takes one path and its own flags', () => {
    for (const args of [
      ['import'],
      ['import', 'a', 'b'],
      ['serve', '--dry-run'],
      ['init', '--keep-existing'],
    ])
      assert.throws(() => callOf(args, {}), { name: 'UsageError' });
  });
});
