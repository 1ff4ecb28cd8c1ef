/** Approving and verifying is the operator's: what an agent's run asks for by itself is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

// What an agent's run tries: to verify a proof, from a child that cleared its environment.
const TRY = `fetch(process.argv[1], { method: "PUT" })
  .then(async (answer) => console.log("answered", answer.status, (await answer.json()).code))`;

describe('a decision that only the operator takes', () => {
  it('is refused to a process of a session, and taken from anybody else', async (t) => {
    const repository = makeRepository(t);
    const daemon = await startDaemon(t, [
      '--workspace',
      temporaryDirectory(t),
      '--repo',
      repository.root,
    ]);
    const call = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${daemon.url}${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    const made = async (path: string, body: object): Promise<string> =>
      JSON.parse((await call('POST', path, body)).text).id;

    const id = await made('/cases', { title: 'Mark your own work', type: 'chore' });
    const pid = await made(`/cases/${id}/proof`, { type: 'log', content: 'trust me' });
    const verify = `/cases/${id}/proof/${pid}/verify`;
    const sid = await made(`/cases/${id}/sessions`, { type: 'implementing', provider: 'manual' });
    const session = `/cases/${id}/sessions/${sid}`;
    await fetch(`${daemon.url}${session}/plan`, {
      method: 'PUT',
      headers: { 'content-type': 'text/markdown' },
      body: 'wait',
    });
    await eventually(async () => assert.match((await call('GET', session)).text, /"plan_ready"/));

    const other = await made('/cases', {
      title: 'Mark the work of others',
      type: 'chore',
      description: `\`\`\`sh\nenv -i "${process.execPath}" -e '${TRY}' ${daemon.url}${verify}\n\`\`\`\n`,
    });
    const run = await made(`/cases/${other}/sessions`, { type: 'implementing' });
    const at = `/cases/${other}/sessions/${run}`;
    await eventually(async () => assert.match((await call('GET', at)).text, /"plan_ready"/));
    assert.equal((await call('POST', `${at}/approve`)).status, 200);
    await eventually(async () => assert.match((await call('GET', at)).text, /"completed"/));

    const told = await fetch(`${daemon.url}${at}/stream`, {
      headers: { accept: 'application/json' },
    });
    assert.match(await told.text(), /answered 403 not_operator/);
    assert.match((await call('GET', `/cases/${id}/proof/${pid}`)).text, /"verified":false/);
    assert.equal((await call('PUT', verify)).status, 200);
  });
});
