import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dossier } from '../helpers/command.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { filesOf } from '../helpers/workspace.ts';

const create = (url: string, title: string): Promise<Response> =>
  fetch(`${url}/cases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title, type: 'task' }),
  });

describe('a workspace that is a symbolic link', () => {
  it('is taken for the directory it leads to, an empty one too', async (t) => {
    const dir = temporaryDirectory(t);
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'link'));
    const daemon = await startDaemon(t, ['--workspace', join(dir, 'link')]);
    assert.equal((await create(daemon.url, 'One')).status, 201);
    await daemon.end('SIGTERM');
    assert.equal(
      [...filesOf(join(dir, 'real')).keys()].some((name) => name.endsWith('case.md')),
      true,
    );
  });

  it('is made where the link leads to nothing yet', async (t) => {
    const dir = temporaryDirectory(t);
    symlinkSync('real', join(dir, 'link'));
    const daemon = await startDaemon(t, ['--workspace', join(dir, 'link')]);
    assert.equal((await create(daemon.url, 'One')).status, 201);
  });

  it('is the same workspace by either name', async (t) => {
    const dir = temporaryDirectory(t);
    mkdirSync(join(dir, 'real'));
    symlinkSync('real', join(dir, 'link'));
    await startDaemon(t, ['--workspace', join(dir, 'real')]);
    const second = await dossier(t, '--workspace', join(dir, 'link'), '--port', '0');
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`${join(dir, 'real')} is held by process`));
  });

  it('that leads in a circle is refused with a sentence', async (t) => {
    const dir = temporaryDirectory(t);
    symlinkSync('two', join(dir, 'one'));
    symlinkSync('one', join(dir, 'two'));
    const { code, stderr } = await dossier(t, '--workspace', join(dir, 'one'), '--port', '0');
    assert.equal(code, 1);
    assert.match(stderr, /^dossier: .*one is a link that leads in a circle\..*\n$/);
  });
});
