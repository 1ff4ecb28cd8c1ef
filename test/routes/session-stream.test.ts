/** The stream as a client reads it: over a socket, live. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { processesNaming } from '../helpers/processes.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { clientOf, openStream } from '../helpers/stream.ts';

// Work goes on as far as the test lets it: a file is the sign.
const waitingPlan = (dir: string): string =>
  ['first', 'second']
    .map(
      (name) =>
        `\`\`\`sh\nprintf '\\033[1m${name}\\033[0m\\342\\200\\256!'\nuntil test -e "${join(dir, name)}"; do sleep 0.02; done\n\`\`\`\n`,
    )
    .join('\n');

const working = async (t: TestContext) => {
  const repository = await makeRepository(t);
  const signs = temporaryDirectory(t);
  const workspace = temporaryDirectory(t);
  // In the sandbox there is another /tmp.
  writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', repository.root]);
  const client = clientOf(daemon.url);
  const item = await client.post('/cases', {
    title: 'Wait',
    type: 'chore',
    description: waitingPlan(signs),
  });
  const { id } = await client.post(`/cases/${item.id}/sessions`, { type: 'implementing' });
  const at = `/cases/${item.id}/sessions/${id}`;
  await eventually(async () => assert.equal((await client.get(at)).status, 'plan_ready'));
  await client.post(`${at}/approve`);
  const sign = (name: string): void => writeFileSync(join(signs, name), '');
  return { url: `${daemon.url}${at}/stream`, sign, signs, workspace, item };
};

describe('GET /cases/{id}/sessions/{sid}/stream over a socket', () => {
  it('tells events while they happen, to each reader, goes on after a cut, and ends', async (t) => {
    const { url, sign } = await working(t);
    const [one, two] = [await openStream(t, url), await openStream(t, url)];
    const running = (event: string, data: Record<string, unknown>): boolean =>
      event === 'tool_call' && data.status === 'in_progress';
    const cut = await one.until(running);
    one.leave();
    sign('first');
    const again = await openStream(t, url, { 'last-event-id': String(cut.id) });
    const next = await again.until(running);
    assert.ok(next.id > cut.id);
    sign('second');
    const [rest, whole] = [await again.toEnd(), await two.toEnd()];
    assert.deepEqual(
      whole.map(({ id }) => id),
      whole.map((_, index) => index + 1),
    );
    assert.deepEqual(rest, whole.slice(cut.id));
    assert.equal(whole.at(-1)?.event, 'complete');
  });

  it('tells what a block writes while the block goes on, and shows what is hidden in it', async (t) => {
    const { url, sign } = await working(t);
    const reader = await openStream(t, url);
    const { data } = await reader.until((event) => event === 'tool_output');
    assert.deepEqual([data.tool_call_id, data.text], ['block-1', 'first⟦U+202E⟧!']);
    for (const name of ['first', 'second']) sign(name);
    const events = await reader.toEnd();
    const said = events.filter(({ event }) => event === 'tool_output').map((one) => one.data.text);
    assert.deepEqual(said, ['first⟦U+202E⟧!', 'second⟦U+202E⟧!']);
    const over = events.find(({ data }) => data.status === 'completed' && 'output' in data);
    assert.equal(over?.data.output, 'first⟦U+202E⟧!');
  });

  it('answers 204 at the end of a session that has ended, and to no one before it', async (t) => {
    const { url, sign } = await working(t);
    const reader = await openStream(t, url);
    for (const name of ['first', 'second']) sign(name);
    const last = (await reader.toEnd()).at(-1)?.id ?? 0;
    const status = async (id: number): Promise<number> => {
      const answer = await fetch(url, { headers: { 'last-event-id': String(id) } });
      await answer.body?.cancel();
      return answer.status;
    };
    // The last event is there a moment before the run is over.
    await eventually(async () => assert.equal(await status(last), 204));
    assert.equal(await status(last - 1), 200);
    // From a file that was cut: what is missing is told first.
    assert.equal(await status(last + 1), 200);
  });

  it('begins with the last ones where `after` is negative, as JSON and live', async (t) => {
    const { url, sign } = await working(t);
    for (const name of ['first', 'second']) sign(name);
    const whole = await (await openStream(t, url)).toEnd();
    const asked = (after: number) =>
      fetch(`${url}?after=${after}`, { headers: { accept: 'application/json' } });
    assert.deepEqual(await (await asked(-2)).json(), whole.slice(-2));
    assert.deepEqual(await (await asked(-1000)).json(), whole);
    assert.equal((await asked(-1001)).status, 400);
    const live = await openStream(t, `${url}?after=-3`);
    assert.deepEqual(await live.toEnd(), whole.slice(-3));
  });

  it('ends for its readers when the Work item is removed by hand', async (t) => {
    const { url, signs, workspace, item } = await working(t);
    const reader = await openStream(t, url);
    await reader.until((event) => event === 'tool_call');
    rmSync(join(workspace, String(item.path)), { recursive: true });
    await reader.toEnd();
    await eventually(() => assert.deepEqual(processesNaming(signs), []));
  });
});
