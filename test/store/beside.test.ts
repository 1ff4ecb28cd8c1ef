import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allItems } from '../../store/reconcile/items.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  caseText,
  dirOf,
  edit,
  heard,
  idOf,
  proofText,
  settled,
  watchedItems,
  write,
} from '../helpers/many-items.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { fingerprint, withCase } from '../helpers/work-item.ts';

/** What editors, merge and sync tools, and systems leave beside a file `x.md`. */
const LEFT: Record<string, string[]> = {
  vim: ['.x.md.swp', '.x.md.swo', 'x.md~', '4913', '.x.md.un~'],
  Emacs: ['#x.md#', 'x.md~', 'x.md.~1~'],
  'nano and joe': ['x.md.save', 'x.md.save.1', '.x.md.nano-swp', 'DEADJOE'],
  Kate: ['.x.md.kate-swp', 'x.md.backup'],
  GNOME: ['.goutputstream-K3QZX1', '.~lock.x.md#'],
  JetBrains: ['x.md___jb_tmp___', 'x.md___jb_old___', 'x.md___jb_bak___'],
  'Sublime Text': ['.subl1a2.tmp', '.x.md.dc0b5.tmp'],
  'sed, perl and patch': ['sedAbCdEf', 'x.md.bak', 'x.md.orig', 'x.md.rej'],
  rsync: ['.x.md.AbCdEf', '.~tmp~x.md'],
  Syncthing: [
    'x.sync-conflict-20260101-120000-ABCDEFG.md',
    '.syncthing.x.md.tmp',
    '~syncthing~x.md.tmp',
  ],
  Dropbox: ["x (operator's conflicted copy 2026-01-01).md", '.x.md.dropbox.tmp'],
  'ownCloud and Nextcloud': [
    'x_conflict-20260101-120000.md',
    'x (conflicted copy 2026-01-01 120000).md',
  ],
  Resilio: ['x.Conflict.md', '.x.md.!sync'],
  'git mergetool': ['x_BACKUP_4711.md', 'x_BASE_4711.md', 'x_LOCAL_4711.md', 'x_REMOTE_4711.md'],
  'file managers': [
    'x (copy).md',
    'Copy of x.md',
    'x - Copy.md',
    '~$x.md',
    '.DS_Store',
    '._x.md',
    'Thumbs.db',
  ],
};

const FOLDERS = ['proof', 'webhooks', 'sessions', '.'];

describe('what tools leave beside records', () => {
  it('is no record, and is left as it is', async (t) => {
    const { running, call, at, dir, events, item } = await withCase(t, {}, { watch: true });
    const folders = FOLDERS.map((folder) => join(dir, folder));
    for (const name of Object.values(LEFT).flat())
      for (const folder of [...folders, join(running.workspace, 'webhooks')])
        write(join(folder, name), LIKE_A_RECORD);
    symlinkSync('operator@machine.4711:1', join(dir, 'proof/.#x.md'));
    const before = fingerprint(running.workspace);
    await settled(running);
    // Heard by the watcher after all that came before.
    write(join(dir, 'proof/real.md'), proofText('ok'));
    await eventually(() => assert.equal(events.length, 1));
    assert.equal((await call<unknown[]>('GET', `${at}/proof`)).body.length, 1);
    assert.deepEqual((await call('GET', `${at}/webhooks`)).body, []);
    assert.deepEqual((await call('GET', '/webhooks')).body, []);
    assert.deepEqual((await call('GET', '/api/diagnostics')).body, []);
    assert.deepEqual((await call<Case[]>('GET', '/cases')).body, [item]);
    rmSync(join(dir, 'proof/real.md'));
    assert.deepEqual(fingerprint(running.workspace), before);
    assert.deepEqual(running.logged, []);
  });
});

// Whoever took it for a record would add what it lacks.
const LIKE_A_RECORD = '---\ntitle: Not one\ntype: log\nurl: http://127.0.0.1:1/\n---\n';

describe('rsync of a whole workspace from another machine', () => {
  it('tells each difference once', async (t) => {
    const running = await watchedItems(t, 40);
    const { workspace } = running;
    const other = temporaryDirectory(t);
    cpSync(join(workspace, 'cases'), join(other, 'cases'), {
      recursive: true,
      preserveTimestamps: true,
    });
    for (const n of [3, 4, 5]) edit({ ...running, workspace: other }, n, 'OPEN', 'BLOCKED');
    write(join(other, dirOf(6), 'proof/two.md'), proofText('from there'));
    rmSync(join(other, dirOf(7)), { recursive: true });
    write(join(other, dirOf(40), 'case.md'), caseText(40));
    execFileSync('rsync', ['--archive', '--delete', `${other}/cases/`, `${workspace}/cases/`]);
    const wanted = [
      ...[3, 4, 5].map((n) => `case_state_changed ${dirOf(n)}`),
      `proof_created ${dirOf(6)}`,
    ].toSorted();
    await eventually(() => assert.deepEqual(heard(running), wanted));
    await settled(running);
    assert.deepEqual(heard(running), wanted);
    const known = allItems(running.service.store).map(({ id }) => id);
    const isThere = [7, 40].map((n) => known.includes(idOf(n)));
    assert.deepEqual([...isThere, known.length], [false, true, 40]);
  });
});
