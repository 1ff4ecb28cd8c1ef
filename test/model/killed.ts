/** Real processes: the built daemon on a workspace that callers and hands write at once, killed at any moment. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { deliveryId } from '../../lib/events/webhooks/attempt.ts';
import { type EventRecord, isStarred } from '../../store/records/event.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { leftInTmp } from '../helpers/left-in-tmp.ts';
import { openReceiver, type TestReceiver } from '../helpers/receiver.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { makeGit } from './hand.ts';
import { caseIn } from './texts.ts';

type Act = 'title' | 'attach' | 'by hand' | 'commit';

/** What is done to one Work item in one life, and when that ends. */
interface Life {
  acts: { act: Act; item: number }[];
  killAfterMs: number;
}

const life = fc.record<Life>({
  acts: fc.array(
    fc.record({
      act: fc.constantFrom<Act>('title', 'title', 'attach', 'by hand', 'commit'),
      item: fc.nat(2),
    }),
    { minLength: 10, maxLength: 30, size: 'max' },
  ),
  killAfterMs: fc.integer({ min: 1, max: 250 }),
});

interface Item {
  id: string;
  path: string;
  /** Those that were asked for. */
  titles: string[];
  /** The last that was saved by hand. */
  owner: string | undefined;
  /** Those that were answered. */
  proofs: Set<string>;
}

interface Scene {
  root: string;
  daemon: Daemon;
  receiver: TestReceiver;
  webhook: string;
  items: Item[];
  acts: number;
}

/** Kills a daemon once in each life; throws when anything was lost, told twice, or left lying about. */
export const killAtRandom = async (t: TestContext, seed: number, lives: number): Promise<void> => {
  const scene = await begin(t);
  for (const each of fc.sample(life, { seed, numRuns: lives })) {
    const killed = delay(each.killAfterMs).then(() => scene.daemon.end('SIGKILL'));
    await Promise.all([killed, ...each.acts.map((act) => perform(scene, act))]);
    scene.daemon = await startDaemon(t, ['--workspace', scene.root]);
  }
  await eventually(() => checkSettled(scene));
  await scene.daemon.end('SIGTERM');
};

const begin = async (t: TestContext): Promise<Scene> => {
  const root = temporaryDirectory(t);
  makeGit(root);
  const receiver = await openReceiver(t);
  const daemon = await startDaemon(t, ['--workspace', root]);
  const { id: webhook } = await made<{ id: string }>(daemon, '/webhooks', { url: receiver.url });
  const items: Item[] = [];
  for (const title of ['One', 'Two', 'Three']) {
    const { id, path } = await made<{ id: string; path: string }>(daemon, '/cases', {
      title,
      type: 'bug',
    });
    items.push({ id, path, titles: [title], owner: undefined, proofs: new Set() });
  }
  return { root, daemon, receiver, webhook, items, acts: 0 };
};

const made = async <T>(daemon: Daemon, path: string, body: object): Promise<T> => {
  const answer = await send(daemon, 'POST', path, body);
  assert.equal(answer?.status, 201);
  return answer?.body as T;
};

// Undefined when the daemon died before it had answered.
const send = async (daemon: Daemon, method: string, path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  try {
    const answer = await fetch(`${daemon.url}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
};

const perform = async (scene: Scene, { act, item: index }: Life['acts'][number]): Promise<void> => {
  const { daemon, root } = scene;
  const item = scene.items[index] as Item;
  scene.acts += 1;
  const value = `${act} ${scene.acts}`;
  await delay(scene.acts % 97);
  if (act === 'commit') return commit(root);
  if (act === 'by hand') {
    item.owner = value;
    return saveByHand(join(root, item.path, 'case.md'), value);
  }
  if (act === 'title') {
    item.titles.push(value);
    const answer = await send(daemon, 'PUT', `/cases/${item.id}`, { title: value });
    assert.ok(answer === undefined || [200, 409].includes(answer.status), JSON.stringify(answer));
    return;
  }
  const answer = await send(daemon, 'POST', `/cases/${item.id}/proof`, {
    type: 'log',
    content: value,
  });
  if (answer?.status === 201) item.proofs.add(String(answer.body.id));
};

const commit = (root: string): void => {
  const git = gitIn(root);
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'as it is');
};

// As an editor saves: by rename, and with another key, so that it is known whether it was lost.
const saveByHand = (path: string, value: string): void => {
  const text = readFileSync(path, 'utf8').replace(/^owner:.*\n/m, '');
  writeFileSync(`${path}.tmp`, text.replace(/^title:/m, `owner: ${value}\ntitle:`));
  renameSync(`${path}.tmp`, path);
};

const checkSettled = async (scene: Scene): Promise<void> => {
  for (const item of scene.items) await checkItem(scene, item);
  checkDelivered(scene);
  assert.deepEqual(leftInTmp(scene.root), [], 'tmp');
  assert.deepEqual(readdirSync(join(scene.root, '.dossier/trash')), [], 'trash');
  const problems = await fetch(`${scene.daemon.url}/api/diagnostics`);
  assert.deepEqual(await problems.json(), []);
};

const checkItem = async (
  { root, daemon }: Scene,
  { id, path, titles, owner, proofs }: Item,
): Promise<void> => {
  const text = readFileSync(join(root, path, 'case.md'), 'utf8');
  if (owner !== undefined) assert.ok(text.includes(`owner: ${owner}\n`), 'a save by hand is there');
  const told = caseIn(text);
  const shown = (await (await fetch(`${daemon.url}/cases/${id}`)).json()) as { title: string };
  assert.equal(shown.title, told?.title, 'what is shown is on disk');
  assert.ok(titles.includes(shown.title), 'somebody asked for it');
  const listed = (await (await fetch(`${daemon.url}/cases/${id}/proof?limit=1000`)).json()) as {
    id: string;
  }[];
  const ids = new Set(listed.map((proof) => proof.id));
  for (const proof of proofs) assert.ok(ids.has(proof), 'what was acknowledged is there');
};

interface Line {
  events?: EventRecord[];
}

// A delivery may repeat; under its one id each event came, and nothing else.
const checkDelivered = ({ root, receiver, webhook, items }: Scene): void => {
  const dir = join(root, '.dossier/journal');
  const events = readdirSync(dir)
    .filter((name) => name.endsWith('.ndjson') && existsSync(join(dir, name)))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').replaceAll('\0', '').split('\n'))
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line.slice(9)) as Line).events ?? [])
    .filter(({ body }) => isStarred(body.event_type));
  const came = new Set(receiver.received.map(({ headers }) => String(headers['webhook-id'])));
  const expected = events.map((event) => deliveryId(event.id, webhook));
  assert.equal(new Set(expected).size, expected.length, 'no event is in the journal twice');
  assert.deepEqual([...came].toSorted(), expected.toSorted(), 'each event came, under one id');
  const created = events
    .filter(({ body }) => body.event_type === 'proof_created')
    .map(({ body }) => String((body.payload as { proof_id?: string }).proof_id));
  assert.equal(new Set(created).size, created.length, 'no proof is told twice');
  for (const { proofs } of items)
    for (const proof of proofs) assert.ok(created.includes(proof), 'each proof is told');
};
