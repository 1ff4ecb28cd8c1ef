/** A real process, killed in the middle of writing, again and again. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseFrontMatter } from '../../store/front-matter/front-matter.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const LIVES = 8;
const WRITERS = 6;

interface Acknowledged {
  /** The last title that was acknowledged, and one that may have been written without an answer. */
  title: string;
  unsure: string | undefined;
  /** How many state changes were acknowledged. */
  moves: number;
  proofs: string[];
}

const send = async (
  daemon: Daemon,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, string>> => {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as Record<string, string>;
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
};

/** Writes until the daemon is gone, and remembers what it was told is done. */
const write = async (daemon: Daemon, known: Map<string, Acknowledged>): Promise<void> => {
  try {
    const { id = '', title = '' } = await send(daemon, 'POST', '/cases', {
      title: 'New',
      type: 'bug',
    });
    const item: Acknowledged = { title, unsure: undefined, moves: 0, proofs: [] };
    known.set(id, item);
    for (let round = 1; ; round += 1) {
      item.unsure = `Title ${round}`;
      await send(daemon, 'PUT', `/cases/${id}`, { title: item.unsure });
      item.title = item.unsure;
      await send(daemon, 'PUT', `/cases/${id}/state`, {
        state: round % 2 === 0 ? 'OPEN' : 'BLOCKED',
      });
      item.moves += 1;
      const proof = await send(daemon, 'POST', `/cases/${id}/proof`, {
        type: 'log',
        content: `round ${round}`,
      });
      item.proofs.push(proof.id ?? '');
    }
  } catch (error) {
    assert.ok(!(error instanceof assert.AssertionError), String(error));
  }
};

const checkKept = async (
  daemon: Daemon,
  id: string,
  { title, unsure, proofs }: Acknowledged,
): Promise<void> => {
  const kept = await send(daemon, 'GET', `/cases/${id}`);
  assert.ok([title, unsure].includes(kept.title), `${kept.title}, not ${title} or ${unsure}`);
  const found = (await send(daemon, 'GET', `/cases/${id}/proof`)) as unknown as { id: string }[];
  for (const proof of proofs) {
    assert.ok(
      found.some((each) => each.id === proof),
      `proof ${proof} is lost`,
    );
  }
};

const checkTold = (receiver: TestReceiver, id: string, { moves, proofs }: Acknowledged): void => {
  assert.ok(countOf(receiver, 'case_state_changed', id) >= moves, 'a state change was not told');
  for (const proof of proofs)
    assert.equal(countOf(receiver, 'proof_created', proof), 1, 'a proof was not told once');
};

const everyFile = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? everyFile(join(dir, entry.name)) : [join(dir, entry.name)],
  );

const start = (t: TestContext, workspace: string): Promise<Daemon> =>
  startDaemon(t, ['--workspace', workspace]);

describe('a daemon that is killed while it writes', () => {
  it('loses nothing that it acknowledged, leaves no half file, and delivers what it owes', async (t) => {
    const workspace = temporaryDirectory(t);
    const receiver = await openReceiver(t);
    const known = new Map<string, Acknowledged>();
    let daemon = await start(t, workspace);
    await send(daemon, 'POST', '/webhooks', { url: receiver.url });
    for (let life = 0; life < LIVES; life += 1) {
      const before = known.size;
      const writers = Array.from({ length: WRITERS }, () => write(daemon, known));
      // Some lives are ended in the middle of what it has begun to acknowledge, however slow the machine is.
      if (life % 4 === 0) await eventually(() => assert.ok(known.size > before));
      await delay((life * 37) % 160);
      await daemon.end('SIGKILL');
      await Promise.all(writers);
      daemon = await start(t, workspace);
      for (const [id, item] of known) await checkKept(daemon, id, item);
    }
    for (const file of everyFile(join(workspace, 'cases'))) {
      assert.match(file, /\.md$/);
      parseFrontMatter(readFileSync(file, 'utf8'));
    }
    assert.deepEqual(await send(daemon, 'GET', '/api/diagnostics'), []);
    await eventually(() => {
      for (const [id, item] of known) checkTold(receiver, id, item);
    });
    assert.ok(known.size >= LIVES / 4);
    assert.deepEqual(await daemon.end('SIGTERM'), { code: 0, signal: null });
  });
});

// Told apart by their ids: a delivery may come again, an event may not.
const countOf = (receiver: TestReceiver, type: string, id: string): number =>
  new Set(
    receiver.received
      .filter(({ headers, body }) => headers['x-service-event'] === type && body.includes(id))
      .map(({ headers }) => headers['webhook-id']),
  ).size;
