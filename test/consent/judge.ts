/** Whether anything happened that nobody said yes to: by what it would have left behind, not by what a daemon says. */
import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { layoutOf } from '../../store/layout.ts';
import {
  chosenProvider,
  permissionPolicy,
  sandboxSettings,
  worktreeConfigOf,
} from '../../store/records/applied.ts';
import type { Settings } from '../../store/records/settings.ts';
import { readInForce } from '../../store/settings/globals.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { type Attacker, WORDS } from './attacks.ts';
import type { World } from './world.ts';

/** How often something stands in the streams of all sessions. */
export interface Told {
  approved: number;
  /** Tools, but those of what the operator approved and resumed. */
  tools: number;
  streams: number;
}

export const toldIn = (world: World): Told => {
  const told: Told = { approved: 0, tools: 0, streams: 0 };
  const own = world.places.paused.session?.path ?? '';
  for (const path of streamsBelow(join(world.workspace, 'cases'))) {
    const events = readFileSync(path, 'utf8');
    told.streams += 1;
    told.approved += count(events, /"event":"approved"/g);
    if (!path.startsWith(join(world.workspace, own))) told.tools += count(events, TOOL);
  }
  return told;
};

// What sets up a worktree the operator trusts by itself.
const TOOL = /"event":"tool_call"(?!.*"tool_call_id":"setup-)/g;

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

const streamsBelow = (dir: string): string[] =>
  lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true
    ? []
    : readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
        const path = join(dir, entry.name);
        if (entry.isDirectory()) return streamsBelow(path);
        return entry.name === 'events.ndjson' && entry.isFile() ? [path] : [];
      });

/** Throws where the attacker got anything. `before`: the streams as the attack left them. */
export const judge = async (on: Attacker, before: Told, inForce?: Settings): Promise<void> => {
  assert.equal(readFileSync(on.evil, 'utf8'), '', 'a command of the attacker’s ran');
  assert.deepEqual(on.attacker.received, [], 'a receiver of the attacker’s was sent something');
  const prompts = readFileSync(on.prompts, 'utf8');
  assert.equal(prompts.includes(WORDS), false, 'an agent was told the attacker’s words');
  const now = toldIn(on);
  assert.ok(now.approved <= before.approved, 'an approval was invented');
  assert.ok(now.tools <= before.tools, 'a session ran that nobody approved');
  judgeSettings(on, inForce ?? settingsIn(on));
};

/** What holds by the files and the log, as another process finds it. */
const settingsIn = ({ workspace }: World): Settings =>
  readInForce(layoutOf(workspace, STATE_DIR)).settings;

const judgeSettings = (on: World, settings: Settings): void => {
  const text = JSON.stringify({ ...settings, worktrees: worktreeConfigOf(settings).setup });
  for (const strange of [on.evil, on.attacker.url, on.hostile])
    assert.equal(text.includes(strange), false, `the settings in force name ${strange}`);
  const provider = chosenProvider(settings);
  assert.ok(['runbook', 'manual'].includes(provider), `${provider} is the provider in force`);
  for (const name of Object.keys(settings.providers ?? {}))
    assert.ok(['agent', 'teller'].includes(name), `there is a provider ${name}`);
  const { execute, fetch } = permissionPolicy(settings);
  assert.notEqual(execute, 'allow', 'all may be executed');
  assert.notEqual(fetch, 'allow', 'all may be fetched');
  assert.equal(JSON.stringify(execute).includes('rm'), false, 'more may be executed');
  assert.notEqual(settings.network, 'host', 'the network is open');
  // Of a workspace that nobody knows, what shuts something is no loss either.
  if (on.isForgotten()) return;
  assert.equal(settings.require_key, true, 'no key is needed any more');
  assert.equal(text.includes('evil.example.com'), false, 'more can be reached');
  assert.deepEqual(settings.allow_local ?? [], [], 'services of this machine are open');
  assert.deepEqual(sandboxSettings(settings).sandbox_readable ?? [], [], 'more can be read');
  const extra = worktreeConfigOf(settings).copy_files;
  assert.equal(JSON.stringify(extra ?? []).includes('*'), false, 'more is copied');
};

/** Neither a key that the attacker made nor one that was revoked opens anything, nor no key. */
export const judgeDoor = async (on: Attacker): Promise<void> => {
  const { host, ownKey, revoked, places } = on;
  // Without the settings that held, none is asked for.
  if (on.isForgotten()) return;
  for (const [whose, key] of Object.entries({ 'no key': undefined, planted: ownKey, revoked }))
    for (const path of ['/cases', '/trust', `/cases/${places.open.id}`]) {
      const answer = await host.call('GET', path, undefined, key);
      assert.ok(answer === undefined || answer.status === 401, `${whose} opens ${path}`);
    }
};

/** A proof is verified here only where the operator verified it and did not take that back. */
export const judgeProofs = async (on: Attacker): Promise<void> => {
  const { host, key, places, verified } = on;
  for (const [name, { id }] of Object.entries(places)) {
    const answer = await host.call<Shown[]>('GET', `/cases/${id}/proof`, undefined, key);
    if (answer?.status !== 200) continue;
    const here = answer.body.filter((one) => one.verified && one.verified_elsewhere !== true);
    const isRight = (one: Shown) =>
      name === 'proved' &&
      one.id === verified &&
      one.type === 'log' &&
      /^(?:A log\.)?\n*$/.test(one.content);
    const wrong = here.filter((one) => !isRight(one));
    assert.deepEqual(wrong, [], `${name} has a proof that was not verified here`);
  }
};

interface Shown {
  id: string;
  type: string;
  content: string;
  verified: boolean;
  verified_elsewhere?: boolean;
}

/** A planning gate is open by an approval only where the operator gave it, for what was there. */
export const judgePlanning = async ({ host, key, places, workspace }: Attacker): Promise<void> => {
  for (const { id, dir } of Object.values(places)) {
    const path = `/api/cases/${id}/planning/gate`;
    const answer = await host.call<{ status: string }>('GET', path, undefined, key);
    if (answer?.status !== 200 || answer.body.status !== 'approved') continue;
    const text = existsSync(join(dir, 'memory/tasks.md'))
      ? readFileSync(join(dir, 'memory/tasks.md'), 'utf8')
      : '';
    assert.ok(id === places.planning.id && text === 'One.\n', `${workspace}: planning approved`);
  }
};
