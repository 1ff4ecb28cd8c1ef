import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { deliveryId } from '../../lib/events/webhooks/attempt.ts';
import { parseFrontMatter } from '../../store/front-matter/front-matter.ts';
import { type EventRecord, isStarred } from '../../store/records/event.ts';
import { eventually } from './eventually.ts';
import { openReceiver, type TestReceiver } from './receiver.ts';
import { makeRepository, temporaryDirectory } from './repository.ts';
import { type Running, startOn } from './service.ts';
import { killedAt, startTraced, startUnder, type TracedDaemon } from './strace.ts';
import { fingerprint, told } from './work-item.ts';

/** Sends a request to the daemon that is to die; undefined when it died before it had answered. */
export type Send = <T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: T } | undefined>;

export interface Place {
  workspace: string;
  repository: string | undefined;
}

/** One request that is killed at each of its steps. */
export interface Step<Given = unknown> {
  name: string;
  needsRepository?: boolean;
  /** Makes what the request works on. */
  prepare: (send: Send, place: Place) => Promise<Given>;
  request: (send: Send, given: Given) => ReturnType<Send>;
  /** Resolves when all that the request began is done, but for deliveries. */
  calm?: (given: Given, place: Place) => void;
  /** What is there after the restart: whether the change was made, and the events that it makes. Throws for half of it. */
  judge: (life: Running, given: Given) => Promise<{ done: boolean; told: string[] }>;
}

/** Ties the parts of a step together. */
export const step = <Given>(one: Step<Given>): Step => one as unknown as Step;

/**
 * Kills a daemon as it enters the nth system call of that name after the request was sent, starts it again on what is
 * left, and asserts that nothing is lost, half done or told twice. False when it was not killed: there are fewer calls.
 */
export const killOnce = async (
  t: TestContext,
  one: Step,
  call: string,
  nth: number,
): Promise<boolean> => {
  const scene = await setUp(t, one);
  const { daemon, send } = scene;
  const before = eventsIn(scene.place).length;
  await daemon.attach(killedAt(call, nth));
  const answer = await one.request(send, scene.given);
  if (answer === undefined) await daemon.ended;
  else assert.ok(answer.status < 300, `answered ${answer.status}`);
  await untilCalm(daemon, scene);
  const survived = await daemon.kill();
  await startAgain(scene, before, answer !== undefined);
  return !survived;
};

/**
 * The same for a start of the daemon on what another one left when it was killed, and on what was done by hand since:
 * `work` does that, and `judge` says what has to come of it.
 */
export const killStartOnce = async (
  t: TestContext,
  { work, ...one }: Omit<Step, 'request'> & { work: (place: Place, given: unknown) => void },
  call: string,
  nth: number,
): Promise<boolean> => {
  const scene = await setUp(t, one);
  await scene.daemon.kill();
  const before = eventsIn(scene.place).length;
  work(scene.place, scene.given);
  const daemon = await startUnder(t, argsOf(scene.place), killedAt(call, nth));
  if (daemon.url !== undefined) await untilCalm(daemon, scene);
  const survived = await daemon.kill();
  await startAgain(scene, before, true);
  return !survived;
};

const setUp = async (
  t: TestContext,
  one: Omit<Step, 'request'>,
): Promise<Scene & { daemon: TracedDaemon; send: Send }> => {
  const receiver = await openReceiver(t);
  const place: Place = {
    workspace: temporaryDirectory(t),
    repository: one.needsRepository === true ? makeRepository(t).root : undefined,
  };
  const daemon = await startTraced(t, argsOf(place));
  const send = sendTo(daemon);
  const webhook = await send<{ id: string }>('POST', '/webhooks', { url: receiver.url });
  const given = await one.prepare(send, place);
  const scene = { one, place, receiver, webhook: webhook?.body.id ?? '', given };
  await allDelivered(scene);
  return { ...scene, daemon, send };
};

interface Scene {
  one: Omit<Step, 'request'>;
  place: Place;
  receiver: TestReceiver;
  /** The id of its registration. */
  webhook: string;
  given: unknown;
}

const startAgain = async (scene: Scene, before: number, acknowledged: boolean): Promise<void> => {
  const { one, place, given } = scene;
  assertWhole(place);
  const life = await startOn(place.workspace, place.repository);
  try {
    const { done, told: expected } = await one.judge(life, given);
    assert.ok(done || !acknowledged, 'what was acknowledged is there');
    const events = eventsIn(place).slice(before);
    assert.deepEqual(told(events.map(({ body }) => body)).toSorted(), expected.toSorted());
    await allDelivered(scene);
    assertSwept(place);
    assert.deepEqual((await life.call('GET', '/api/diagnostics')).body, []);
    assert.deepEqual(life.logged, []);
  } finally {
    await life.stop();
  }
  await assertSilent(scene);
};

const argsOf = ({ workspace, repository }: Place): string[] => [
  ...['--workspace', workspace],
  ...(repository === undefined ? [] : ['--repo', repository]),
];

const sendTo =
  ({ url }: TracedDaemon): Send =>
  async <T>(method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const isText = typeof body === 'string';
    const headers = { 'content-type': isText ? 'text/markdown' : 'application/json', ...more };
    const payload = isText ? body : JSON.stringify(body);
    const init = { method, headers, ...(payload !== undefined && { body: payload }) };
    // A connection that broke is told by a TypeError.
    const answer = await fetch(`${url}${path}`, init).catch(unlessBroken);
    const text = await answer?.text().catch(unlessBroken);
    if (answer === undefined || text === undefined) return undefined;
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return { status: answer.status, body: (isJson ? JSON.parse(text) : text) as T };
  };

const unlessBroken = (error: unknown): undefined => {
  if (!(error instanceof TypeError)) throw error;
};

const untilCalm = (daemon: Pick<TracedDaemon, 'alive'>, scene: Scene): Promise<void> =>
  eventually(() => {
    if (!daemon.alive()) return;
    scene.one.calm?.(scene.given, scene.place);
    checkDelivered(scene);
  });

interface Line {
  events?: EventRecord[];
  cursor?: { id: string; seq: number | null };
}

const journalOf = ({ workspace }: Place): Line[] => {
  const dir = join(workspace, '.dossier/journal');
  const [name = ''] = readdirSync(dir).filter((each) => each.endsWith('.ndjson'));
  const bytes = readFileSync(join(dir, name));
  const zeros = bytes.indexOf(0);
  const lines = bytes.toString('utf8', 0, zeros < 0 ? bytes.length : zeros).split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice(9)) as Line);
};

/** Every event record there ever was about files and sessions. */
const eventsIn = (place: Place): EventRecord[] =>
  journalOf(place)
    .flatMap(({ events = [] }) => events)
    .filter(({ body: { event_type } }) => isStarred(event_type) || event_type.startsWith('case_'));

const allDelivered = (scene: Scene): Promise<void> => eventually(() => checkDelivered(scene));

// Each event under its one id, nothing else, and that noted.
const checkDelivered = ({ place, receiver, webhook }: Scene): void => {
  const events = eventsIn(place).filter(({ body }) => isStarred(body.event_type));
  const came = new Set(receiver.received.map(({ headers }) => String(headers['webhook-id'])));
  const expected = events.map(({ id }) => deliveryId(id, webhook));
  assert.deepEqual([...came].toSorted(), expected.toSorted(), 'each event came, under one id');
  const cursor = journalOf(place).findLast((line) => line.cursor?.id === webhook)?.cursor;
  assert.equal(cursor?.seq ?? 0, events.at(-1)?.seq ?? 0, 'and that is noted');
};

// As the crash left it: a reader sees a file as it was, or as it is to be.
const assertWhole = ({ workspace }: Place): void => {
  for (const path of Object.keys(fingerprint(workspace))) {
    if (!/^(cases|webhooks)\/.*\.md$/.test(path) || /\/(memory|sessions)\//.test(path)) continue;
    const text = readFileSync(join(workspace, path), 'utf8');
    assert.doesNotThrow(() => parseFrontMatter(text), `${path} is whole`);
  }
};

const assertSwept = ({ workspace }: Place): void => {
  for (const name of ['tmp', 'trash'])
    assert.deepEqual(readdirSync(join(workspace, '.dossier', name)), [], name);
  const strays = readdirSync(join(workspace, '.dossier')).filter((name) => STRAY.test(name));
  assert.deepEqual(strays, [], 'nothing lies around');
};

const STRAY = /^(daemon|owner\.json)\.(?!lock$)/;

// Once it is mended nothing is left to do.
const assertSilent = async ({ place, receiver }: Scene): Promise<void> => {
  const state = () => ({
    files: fingerprint(place.workspace),
    events: eventsIn(place).length,
    deliveries: receiver.received.length,
  });
  const before = state();
  const again = await startOn(place.workspace, place.repository);
  await again.stop();
  assert.deepEqual(state(), before, 'a second restart changes nothing');
};
