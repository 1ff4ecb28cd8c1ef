import assert from 'node:assert/strict';
import fs, {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openConsentLog, readConsentLog } from '../../../store/consent/log.ts';
import { layoutOf } from '../../../store/layout.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { readOnly, tinyDisk } from '../../helpers/tiny-disk.ts';

const KEY = 'worktrees.setup';
const VALUE = ['npm ci'];

/** A workspace in which the operator granted one value, and the files that keep it. */
const granted = (t: TestContext) => {
  const top = temporaryDirectory(t);
  const [root, state] = [join(top, 'work'), join(top, 'state')];
  mkdirSync(join(root, '.dossier'), { recursive: true });
  const layout = layoutOf(root, state);
  openConsentLog(layout).grant([{ key: KEY, value: VALUE }]);
  const [id = ''] = readdirSync(join(state, 'workspaces'));
  return { top, root, state, layout, file: join(state, 'workspaces', id, 'consent.log') };
};

const isGranted = (root: string, state: string): boolean =>
  openConsentLog(layoutOf(root, state)).isGranted(KEY, VALUE);

const replaceInFs = (
  t: TestContext,
  name: 'lstatSync' | 'openSync',
  call: (path: string, flags: number) => unknown,
): void => {
  t.mock.method(fs, name, call as never);
  syncBuiltinESMExports();
  atEnd(t, () => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
};

describe('the consent log', () => {
  it('keeps what was granted, for another process, and after a restart', (t) => {
    const { root, state, layout } = granted(t);
    assert.equal(readConsentLog(layout).isGranted(KEY, VALUE), true);
    assert.equal(isGranted(root, state), true);
    assert.equal(readConsentLog(layout).isGranted(KEY, ['npm install']), false);
    assert.equal(readConsentLog(layout).isGranted('sandbox', VALUE), false);
  });

  it('forgets what was revoked, and lists what is granted', (t) => {
    const { layout } = granted(t);
    const log = openConsentLog(layout);
    assert.deepEqual([...log.list().keys()], [KEY]);
    log.revoke(KEY);
    assert.equal(log.isGranted(KEY, VALUE), false);
    assert.equal(readConsentLog(layout).isGranted(KEY, VALUE), false);
  });

  it('is seen by a log that is open already', (t) => {
    const { layout } = granted(t);
    const [first, second] = [openConsentLog(layout), openConsentLog(layout)];
    first.grant([{ key: 'sandbox', value: 'off' }]);
    assert.equal(second.isGranted('sandbox', 'off'), false);
    second.refresh();
    assert.equal(second.isGranted('sandbox', 'off'), true);
  });

  it('can be read by this user alone', (t) => {
    const { state, file } = granted(t);
    for (const path of [state, join(state, 'workspaces'), join(file, '..')])
      assert.equal(statSync(path).mode & 0o777, 0o700, path);
    for (const path of [join(state, 'key'), join(file, '..', 'workspace.json')])
      assert.equal(statSync(path).mode & 0o777, 0o600, path);
    assert.equal(statSync(file).mode & 0o077, 0);
  });

  it('believes no line that was changed or added without the key, nor what stands before it', (t) => {
    const { layout, file } = granted(t);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('npm ci', 'evil!!'));
    const changed = readConsentLog(layout);
    assert.equal(changed.isGranted(KEY, ['evil!!']), false);
    assert.match(changed.current().damage ?? '', /consent\.log was changed/);
    writeFileSync(file, text);
    appendFileSync(file, `${'0'.repeat(64)} {"key":"sandbox","value":"off","by":"operator"}\n`);
    const added = readConsentLog(layout);
    assert.equal(added.isGranted('sandbox', 'off'), false);
    assert.equal(added.isGranted(KEY, VALUE), false);
    const again = openConsentLog(layout);
    again.grant([{ key: KEY, value: VALUE }]);
    assert.equal(readConsentLog(layout).isGranted(KEY, VALUE), true);
  });

  it('loses a line that a crash tore, and no other', (t) => {
    const { layout, file } = granted(t);
    const { size } = statSync(file);
    openConsentLog(layout).grant([{ key: 'sandbox', value: 'off' }]);
    truncateSync(file, size + 20);
    const log = openConsentLog(layout);
    assert.equal(log.isGranted(KEY, VALUE), true);
    assert.equal(log.isGranted('sandbox', 'off'), false);
    log.grant([{ key: 'network', value: 'host' }]);
    const next = readConsentLog(layout);
    assert.deepEqual([...next.list().keys()], [KEY, 'network']);
    assert.equal(next.current().damage, undefined);
  });

  it('is not the one of another workspace', (t) => {
    const { top, state, file } = granted(t);
    const other = join(top, 'other');
    mkdirSync(join(other, '.dossier'), { recursive: true });
    const log = openConsentLog(layoutOf(other, state));
    log.grant([{ key: 'network', value: 'host' }]);
    const ids = readdirSync(join(state, 'workspaces'));
    const theirs = ids.map((id) => join(state, 'workspaces', id, 'consent.log'));
    const [mine = ''] = theirs.filter((path) => path !== file);
    writeFileSync(mine, readFileSync(file));
    const found = openConsentLog(layoutOf(other, state));
    assert.equal(found.isGranted(KEY, VALUE), false);
    assert.equal(found.isGranted('network', 'host'), false);
  });
});

describe('a workspace', () => {
  it('keeps its consent when it is moved', (t) => {
    const { top, root, state } = granted(t);
    renameSync(root, join(top, 'moved'));
    assert.equal(isGranted(join(top, 'moved'), state), true);
  });

  it('keeps its consent when its former place cannot be read', (t) => {
    const { top, root, state } = granted(t);
    renameSync(root, join(top, 'moved'));
    const { openSync } = fs;
    replaceInFs(t, 'openSync', (path: string, flags: number) => {
      if (path.startsWith(root)) throw Object.assign(new Error('refused'), { code: 'EACCES' });
      return openSync(path, flags);
    });
    assert.equal(isGranted(join(top, 'moved'), state), true);
  });

  it('keeps its consent where the system knows no time of creation, and Node returns that of the last change', (t) => {
    const { lstatSync } = fs;
    replaceInFs(t, 'lstatSync', (path: string) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats && Object.assign(stats, { birthtimeMs: stats.ctimeMs });
    });
    const { layout, root, state } = granted(t);
    linkSync(join(layout.dossier, 'workspace'), join(layout.dossier, 'other'));
    assert.equal(isGranted(root, state), true);
  });

  it('is asked again as a copy, beside the first one and after that was removed', (t) => {
    const { top, root, state } = granted(t);
    cpSync(root, join(top, 'copy'), { recursive: true });
    assert.equal(isGranted(join(top, 'copy'), state), false);
    assert.equal(isGranted(root, state), true);
    cpSync(root, join(top, 'second'), { recursive: true });
    rmSync(root, { recursive: true });
    assert.equal(isGranted(join(top, 'second'), state), false);
  });

  it('is asked again as a copy of hard links, beside the first one', (t) => {
    const { top, root, state } = granted(t);
    const copy = join(top, 'copy');
    mkdirSync(join(copy, '.dossier'), { recursive: true });
    linkSync(join(root, '.dossier', 'workspace'), join(copy, '.dossier', 'workspace'));
    assert.equal(isGranted(copy, state), false);
    assert.equal(isGranted(root, state), true);
  });

  it('is asked again when a backup of it was restored in its place', (t) => {
    const { top, root, state } = granted(t);
    cpSync(root, join(top, 'backup'), { recursive: true });
    rmSync(root, { recursive: true });
    cpSync(join(top, 'backup'), root, { recursive: true });
    assert.equal(isGranted(root, state), false);
  });

  it('is asked again without its .dossier', (t) => {
    const { root, state } = granted(t);
    rmSync(join(root, '.dossier'), { recursive: true });
    mkdirSync(join(root, '.dossier'));
    assert.equal(isGranted(root, state), false);
  });

  it('gains nothing by the id of another one', (t) => {
    const { top, root, state } = granted(t);
    const other = join(top, 'other');
    mkdirSync(join(other, '.dossier'), { recursive: true });
    cpSync(join(root, '.dossier', 'workspace'), join(other, '.dossier', 'workspace'));
    assert.equal(isGranted(other, state), false);
    rmSync(root, { recursive: true });
    assert.equal(isGranted(other, state), false);
  });

  it('is asked again on another machine with the same home directory', (t) => {
    const { layout, root, state, file } = granted(t);
    const note = join(file, '..', 'workspace.json');
    const noted = JSON.parse(readFileSync(note, 'utf8')) as object;
    writeFileSync(note, JSON.stringify({ ...noted, machine: 'another' }));
    assert.equal(readConsentLog(layout).isGranted(KEY, VALUE), false);
    assert.equal(isGranted(root, state), false);
  });
});

describe('a state directory', () => {
  const refused = (t: TestContext, prepare: (top: string) => string, said: RegExp): void => {
    const top = temporaryDirectory(t);
    mkdirSync(join(top, 'work', '.dossier'), { recursive: true });
    const state = prepare(top);
    assert.throws(() => openConsentLog(layoutOf(join(top, 'work'), state)), {
      name: 'StateDirError',
      message: said,
    });
    assert.deepEqual(readdirSync(join(top, 'work', '.dossier')), []);
  };

  it('is created when it is missing', (t) => {
    const top = temporaryDirectory(t);
    mkdirSync(join(top, 'work', '.dossier'), { recursive: true });
    const state = join(top, 'a', 'b', 'state');
    openConsentLog(layoutOf(join(top, 'work'), state));
    assert.equal(statSync(state).mode & 0o777, 0o700);
  });

  it('is refused inside the workspace, also by a link, and around it', (t) => {
    refused(t, (top) => join(top, 'work', 'state'), /must not contain each other/);
    refused(
      t,
      (top) => {
        mkdirSync(join(top, 'work', 'inner'));
        symlinkSync(join(top, 'work', 'inner'), join(top, 'link'));
        return join(top, 'link');
      },
      /must not contain each other/,
    );
    refused(t, (top) => top, /must not contain each other/);
  });

  it('is refused where others may enter it, or a file is in its place', (t) => {
    const open = (top: string): string => {
      mkdirSync(join(top, 'state'));
      chmodSync(join(top, 'state'), 0o755);
      return join(top, 'state');
    };
    refused(t, open, /^Other users can enter the state directory .*\. Run chmod 700/);
    const file = (top: string): string => {
      writeFileSync(join(top, 'state'), '');
      return join(top, 'state');
    };
    refused(t, file, /cannot be used: a (file has that name|part of that path is a file)/);
  });

  it('is refused on a file system that takes no directory, and does not hang', (t) => {
    refused(t, () => '/proc/dossier/state', /cannot be used/);
  });

  it('is refused with a key that is none', (t) => {
    const broken = (top: string): string => {
      mkdirSync(join(top, 'state'), { mode: 0o700 });
      writeFileSync(join(top, 'state', 'key'), 'short');
      return join(top, 'state');
    };
    refused(t, broken, /is not a key of 32 bytes\. Remove it/);
  });

  it('is refused on a disk that is full, or read-only', (t) => {
    const disk = tinyDisk(t, 64);
    if (disk === undefined) return;
    disk.leave(0);
    refused(t, () => join(disk.dir, 'state'), /its disk is full \(ENOSPC\)/);
    disk.free();
    refused(
      t,
      (top) => {
        const state = join(top, 'state');
        mkdirSync(state, { mode: 0o700 });
        const writable = readOnly(t, state);
        if (writable !== undefined) atEnd(t, writable);
        return state;
      },
      /read-only \(EROFS\)/,
    );
  });

  it('grants nothing that it cannot keep', (t) => {
    const disk = tinyDisk(t, 64);
    if (disk === undefined) return;
    const top = temporaryDirectory(t);
    mkdirSync(join(top, '.dossier'));
    const log = openConsentLog(layoutOf(top, join(disk.dir, 'state')));
    log.grant([{ key: KEY, value: VALUE }]);
    disk.leave(0);
    const large = [{ key: 'sandbox', value: 'x'.repeat(65_536) }];
    assert.throws(() => log.grant(large), { code: 'ENOSPC' });
    assert.equal(log.isGranted('sandbox', large[0]?.value), false);
    assert.equal(log.isGranted(KEY, VALUE), true);
    disk.free();
    log.grant([{ key: 'network', value: 'host' }]);
    const again = openConsentLog(layoutOf(top, join(disk.dir, 'state')));
    assert.deepEqual([...again.list().keys()], [KEY, 'network']);
    assert.equal(again.current().damage, undefined);
  });

  it('grants nothing once its directory was removed, or is another, and goes on when it is back', (t) => {
    const { layout, state } = granted(t);
    const log = openConsentLog(layout, { holds: true });
    renameSync(state, `${state}.away`);
    const grant = () => log.grant([{ key: 'network', value: 'host' }]);
    const lost = { code: 'read_only', message: /state was removed or replaced.*Put it back/ };
    assert.throws(grant, lost);
    assert.equal(existsSync(state), false);
    mkdirSync(state, { mode: 0o700 });
    writeFileSync(join(state, 'key'), Buffer.alloc(32));
    assert.throws(grant, lost);
    rmSync(state, { recursive: true });
    renameSync(`${state}.away`, state);
    grant();
    assert.deepEqual([...openConsentLog(layout).list().keys()], [KEY, 'network']);
  });

  it('is needed', (t) => {
    const top = temporaryDirectory(t);
    mkdirSync(join(top, '.dossier'));
    assert.throws(() => openConsentLog(layoutOf(top)), /HOME is not set.*--state-dir/);
  });
});
