import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { killAtEnd } from '../../../helpers/at-end.ts';
import { dossierIn } from '../../../helpers/command.ts';
import { DOSSIER } from '../../../helpers/daemon.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { casesOf, runImport } from '../../../helpers/imported.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';
import { tinyDisk } from '../../../helpers/tiny-disk.ts';

describe('dossier export', () => {
  it('saves the workspace, or one Work item, as an archive that import takes, over no file', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    const api = connect({ url });
    for (const title of ['One', 'Two'])
      await api.call('POST /cases', { body: { title, type: 'bug' } });
    const cwd = temporaryDirectory(t);
    const said = (...words: string[]) =>
      dossierIn(t, { cwd }, ['export', ...words, '--workspace', workspace]);
    const whole = await said();
    assert.equal(whole.code, 0, whole.stderr);
    const [name = ''] = readdirSync(cwd);
    assert.match(name, /^dossier-.*\.zip$/);
    const { file, size } = JSON.parse((await said('One', '--file', 'one.zip', '--json')).stdout);
    assert.deepEqual([file, size], [join(cwd, 'one.zip'), readFileSync(file).length]);
    for (const [archive, titles] of [
      [name, ['One', 'Two']],
      ['one.zip', ['One']],
    ] as const) {
      const into = temporaryDirectory(t);
      assert.equal((await runImport(into, join(cwd, archive))).code, 0);
      assert.deepEqual(
        casesOf(into)
          .map(({ data }) => data.title)
          .toSorted(),
        titles,
      );
    }
    writeFileSync(join(cwd, 'there.zip'), 'mine');
    const refused = await said('--file', 'there.zip');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /there\.zip exists\. Name another file with --file/);
    assert.equal(readFileSync(join(cwd, 'there.zip'), 'utf8'), 'mine');
    const nowhere = await said('--file', 'no/such/x.zip');
    assert.deepEqual([nowhere.code, existsSync(join(cwd, 'no'))], [1, false]);
    const piped = await said('--file', '-');
    assert.equal(piped.code, 2);
    assert.match(piped.stderr, /--file - is not supported\. /);
    assert.deepEqual(readdirSync(cwd).toSorted(), [name, 'one.zip', 'there.zip'].toSorted());
  });

  it('says that no import takes an archive with names that differ only in case', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    await connect({ url }).call('POST /cases', { body: { title: 'One', type: 'bug' } });
    mkdirSync(join(workspace, 'memory'));
    for (const name of ['a.md', 'A.md']) writeFileSync(join(workspace, 'memory', name), 'x\n');
    const file = join(temporaryDirectory(t), 'x.zip');
    const args = ['export', '--file', file, '--workspace', workspace];
    const { code, stdout, stderr } = await dossierIn(t, {}, args);
    assert.deepEqual([code, stdout.startsWith(`Exported to ${file} (`)], [0, true]);
    const why = /import will refuse this archive: .*"memory\/A\.md" and "memory\/a\.md" .* Rename/;
    assert.match(stderr, why);
    assert.doesNotMatch(stderr, /Nothing was imported/);
    await assert.rejects(runImport(temporaryDirectory(t), file), /"memory\/A\.md" and "memory/);
  });

  it('says that the disk is full, and leaves nothing on it', async (t) => {
    const disk = tinyDisk(t, 256);
    if (disk === undefined) return;
    disk.leave(0);
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    const description = randomBytes(60_000).toString('hex');
    await connect({ url }).call('POST /cases', {
      body: { title: 'One', type: 'bug', description },
    });
    const file = join(disk.dir, 'x.zip');
    const args = ['export', '--file', file, '--workspace', workspace];
    const { code, stderr } = await dossierIn(t, { cwd: workspace }, args);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /The disk of .*x\.zip is full\. Free some space, or name a file .* --file/,
    );
    assert.deepEqual(readdirSync(disk.dir), ['filler']);
  });

  it('leaves nothing when a signal ends it', async (t) => {
    const workspace = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', workspace]);
    await connect({ url }).call('POST /cases', { body: { title: 'One', type: 'bug' } });
    // Random, so that it takes a while to compress.
    const [item = ''] = readdirSync(join(workspace, 'cases'));
    writeFileSync(join(workspace, 'cases', item, 'large.bin'), randomBytes(48_000_000));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const cwd = temporaryDirectory(t);
      const child = spawn(process.execPath, [DOSSIER, 'export', '--workspace', workspace], {
        cwd,
        stdio: 'ignore',
      });
      killAtEnd(t, child);
      const ended = once(child, 'exit');
      await eventually(() => assert.match(readdirSync(cwd).join(), /\.part$/));
      child.kill(signal);
      assert.deepEqual([await ended, readdirSync(cwd)], [[null, signal], []]);
    }
  });
});
