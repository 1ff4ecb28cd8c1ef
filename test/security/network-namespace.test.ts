/** A daemon in a network namespace of its own, as in a container: who calls is told there as well. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER, firstUrl } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

const UP = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const skip =
  spawnSync('unshare', [...UP, 'true']).status !== 0 && 'no network namespace can be made';

describe('a daemon in another network namespace', { skip }, () => {
  it('refuses a run without a sandbox, from inside and by the way round, and takes the operator', async (t) => {
    const [workspace, out] = [temporaryDirectory(t), temporaryDirectory(t)];
    writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
    const args = [
      'serve',
      '--port',
      '0',
      '--workspace',
      workspace,
      '--repo',
      makeRepository(t).root,
    ];
    const daemon = spawn('unshare', [...UP, process.execPath, DOSSIER, ...args], {
      env: { ...process.env, DOSSIER_TRUST: '1', HOME: temporaryDirectory(t) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    killAtEnd(t, daemon);
    const url = await firstUrl(daemon);
    const call = (path: string, body?: object) => {
      const json = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
      const curl = ['curl', '-s', ...(body === undefined ? [] : json), `${url}${path}`];
      const text = execFileSync('nsenter', ['-t', `${daemon.pid}`, '-n', ...curl]).toString();
      return JSON.parse(text) as { id: string; status: string };
    };
    const ask = `curl -s -o /dev/null -w '%{http_code}\\n' ${url}/cases`;
    const round = `unshare -n nsenter -t ${daemon.pid} -n ${ask}`;
    const wait = `until [ -e ${out}/end ]; do sleep 0.1; done`;
    const lines = [`${ask} > ${out}/one`, `${round} > ${out}/two`, wait];
    const description = `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;
    const { id } = call('/cases', { title: 'Ask', type: 'chore', description });
    const at = `/cases/${id}/sessions`;
    const session = call(at, { type: 'implementing' });
    await eventually(() => assert.equal(call(`${at}/${session.id}`).status, 'plan_ready'));
    call(`${at}/${session.id}/approve`, {});
    await eventually(() => assert.ok(existsSync(join(out, 'two'))));
    await eventually(() => assert.equal(readFileSync(join(out, 'two'), 'utf8'), '403\n'));
    assert.equal(readFileSync(join(out, 'one'), 'utf8'), '403\n');
    assert.equal(call(`${at}/${session.id}`).id, session.id);
    writeFileSync(join(out, 'end'), '');
    await eventually(() => assert.equal(call(`${at}/${session.id}`).status, 'completed'));
  });
});
