/** Each trace that is looked for comes once the operator says yes to the very same: else its absence proves nothing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Attacker, attackerIn, plant, WORDS } from './attacks.ts';
import { toldIn } from './judge.ts';
import type { World } from './world.ts';

type Control = (on: Attacker) => Promise<void>;

const call = async <T>(on: Attacker, what: string, body?: unknown): Promise<T> => {
  const [method = '', path = ''] = what.split(' ');
  const answer = await on.host.call<T>(method, path, body, on.key);
  assert.ok(answer !== undefined && answer.status < 300, `${what}: ${answer?.text}`);
  return answer.body;
};

const trustAll = (on: Attacker): Promise<unknown> => call(on, 'POST /trust', { all: true });

const comes = (path: string, what: string | RegExp): Promise<void> =>
  eventually(() => assert.match(readFileSync(path, 'utf8'), new RegExp(what)));

const CONTROLS: Readonly<Record<string, Control>> = {
  'a plan that is approved': async (on) => {
    plant.approval(on, on.places.paused);
    await on.host.start();
    const { id, session } = on.places.paused;
    const before = toldIn(on);
    const now = await call<Session>(on, `GET /cases/${id}/sessions/${session?.id}`);
    assert.equal(now.unconfirmed, 'approved');
    const plan_sha256 = now.approved_sha256;
    await call(on, `POST /cases/${id}/sessions/${session?.id}/approve`, { plan_sha256 });
    await comes(on.evil, String(on.seed));
    // Of a session that was approved before, the stream says so already.
    assert.ok(toldIn(on).approved >= before.approved);
  },
  'a comment that is confirmed': async (on) => {
    plant.comment(on, on.places.planned);
    await on.host.start();
    await call(on, `POST /api/cases/${on.places.planned.id}/session/abort`);
    await trustAll(on);
    await comes(on.prompts, WORDS);
  },
  'settings that are trusted': async (on) => {
    plant.settings(on);
    await on.host.start();
    await trustAll(on);
    await call(on, 'POST /api/worktrees', { case_id: on.places.open.id });
    await call(on, `POST /api/worktrees/${on.places.open.id}/setup`).catch(() => undefined);
    await comes(on.evil, String(on.seed));
  },
};

const MORE: Readonly<Record<string, Control>> = {
  'a receiver that is trusted': async (on) => {
    plant.webhook(on);
    await on.host.start();
    await trustAll(on);
    await call(on, `PUT /cases/${on.places.open.id}/state`, { state: 'BLOCKED' });
    await eventually(() => assert.ok(on.attacker.received.length > 0));
    on.attacker.received.length = 0;
  },
  'an API key that is trusted': async (on) => {
    plant.key(on);
    await on.host.start();
    const asked = () => on.host.call('GET', '/cases', undefined, on.ownKey);
    assert.equal((await asked())?.status, 401);
    await trustAll(on);
    assert.equal((await asked())?.status, 200);
  },
};

export const provesTraces = async (world: World): Promise<void> => {
  for (const [index, [name, control]] of Object.entries({ ...CONTROLS, ...MORE }).entries()) {
    world.reset();
    await control(attackerIn(world, 900_000 + index)).catch((error: unknown) => {
      throw new Error(`${name} leaves no trace`, { cause: error });
    });
    await eventually(async () => assert.ok(await world.host.isQuiet(world.key)));
    await world.host.stop();
  }
};
