/** Another user of the machine is not the operator. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startDaemon } from '../helpers/daemon.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const skip =
  process.platform !== 'linux'
    ? 'only Linux tells whose a socket is'
    : process.getuid?.() !== 0 && 'only root can be other users';
const NOBODY = 65_534;
const OTHER = 65_533;

const ASK = `fetch(process.argv[1], { headers: JSON.parse(process.argv[2]), signal: AbortSignal.timeout(60000) })
  .then(async (answer) => console.log(answer.status, (await answer.json()).code ?? ''))`;

const ask = (uid: number, url: string, headers = {}): string =>
  execFileSync(process.execPath, ['-e', ASK, url, JSON.stringify(headers)], {
    uid,
    gid: uid,
    cwd: '/',
    encoding: 'utf8',
  }).trim();

describe('a call of another user', { skip }, () => {
  it('is refused by a daemon of a user, which takes its own user’s and root’s', async (t) => {
    const workspace = temporaryDirectory(t);
    chownSync(workspace, NOBODY, NOBODY);
    chmodSync(workspace, 0o755);
    const { url } = await startDaemon(t, ['--workspace', workspace], { HOME: workspace }, NOBODY);
    assert.equal(ask(OTHER, `${url}/cases`), '403 not_operator');
    assert.equal(ask(OTHER, `${url}/openapi.json`), '403 not_operator');
    assert.equal(ask(OTHER, `${url}/health`), '200');
    assert.equal(ask(OTHER, `${url}/version`), '200');
    assert.equal(ask(NOBODY, `${url}/cases`), '200');
    assert.equal(ask(0, `${url}/cases`), '200');
  });

  it('is refused by a daemon of root', async (t) => {
    const { url } = await startDaemon(t, ['--workspace', temporaryDirectory(t)]);
    assert.equal(ask(OTHER, `${url}/cases`), '403 not_operator');
    assert.equal(ask(0, `${url}/cases`), '200');
  });
});
