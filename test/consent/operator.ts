/** What an operator does all day that says yes to nothing of what was changed. */
import assert from 'node:assert/strict';
import { PAGES } from '../../routes/console/pages/index.ts';
import type { Attacker, Dice } from './attacks.ts';
import type { Place } from './world.ts';

const pages = Object.values(PAGES).map(({ path }) => path);

/** The pages of the console that are about these. */
const pagesOf = (...names: string[]): string[] =>
  pages
    .filter((path) => (path.match(/\{\w+\}/g) ?? []).join() === names.join())
    .map((path) => path.replace('{id}', '@').replace('{sid}', '#'));

const LISTS = [
  ...['/cases', '/trust', '/trusted', '/attention', '/settings', '/providers', '/webhooks'],
  ...['/api/diagnostics', '/api/machine', '/api/worktrees', '/api/worktrees/stale', '/health'],
  ...['/api/worktrees/config', '/api/sessions/queue', '/api/sessions/active', '/dashboard/keys'],
  ...['/api/sessions/newest', '/api/sessions/providers', '/api/export', '/api/global-memory'],
  ...['/api/codehost/settings', '/api/codehost/availability'],
  ...pagesOf(),
];

const OF_ITEM = [
  ...['/cases/@', '/cases/@/history', '/cases/@/sessions', '/cases/@/usage', '/cases/@/memory'],
  ...['/cases/@/proof', '/cases/@/proof/checklist', '/cases/@/proof/gate', '/cases/@/webhooks'],
  ...['/api/cases/@/planning/gate', '/api/cases/@/planning/readiness', '/api/cases/@/worktree'],
  ...['/api/cases/@/planning-artifacts', '/api/cases/@/conflicts/preview', '/cases/@/export'],
  ...['/api/cases/@/conflicts/history', '/api/worktrees/@/health', '/api/worktrees/@/status'],
  ...['/api/worktrees/@/memory-root', '/api/worktrees/@/recoveries', '/api/worktrees/@/lock'],
  ...['/cases/@/editor/directories', '/cases/@/editor/files?path=README.md'],
  ...['/api/cases/@/pr', '/api/cases/@/github'],
  ...pagesOf('{id}').filter((path) => path.includes('/cases/')),
];

const OF_SESSION = [
  ...['', '/boundary', '/plan', '/comments', '/diff', '/stream'].map(
    (of) => `/cases/@/sessions/#${of}`,
  ),
  ...pagesOf('{id}', '{sid}'),
];

type Act = (attacker: Attacker, at: Place) => Promise<unknown>;

// What is asked for has to be there, or nobody tries it.
const send = async ({ host, key }: Attacker, method: string, path: string, body?: unknown) => {
  const answer = await host.call(method, path, body, key);
  const isThere = answer?.status !== 404 || !answer.text.includes('route_not_found');
  assert.ok(isThere, `there is no ${method} ${path}`);
  return answer;
};

const ACTS: Readonly<Record<string, Act>> = {
  sweep: ({ host, key }) => host.sweep(key),
  resume: (on, { id }) => send(on, 'POST', `/api/cases/${id}/session/resume`),
  abort: (on, { id }) => send(on, 'POST', `/api/cases/${id}/session/abort`),
  start: (on, { id }) => send(on, 'POST', `/cases/${id}/sessions`, { type: 'implementing' }),
  create: (on) => send(on, 'POST', '/cases', { title: 'Another', type: 'bug' }),
  rename: (on, { id }) => send(on, 'PUT', `/cases/${id}`, { title: 'Renamed' }),
  worktree: (on, { id }) => send(on, 'POST', '/api/worktrees', { case_id: id }),
  'set up': (on, { id }) => send(on, 'POST', `/api/worktrees/${id}/setup`),
  'look whether it is isolated': (on, { id }) =>
    send(on, 'POST', `/api/worktrees/${id}/verify-isolation`),
  'clean up': (on) => send(on, 'POST', '/api/worktrees/cleanup', {}),
  unlock: (on, { id }) => send(on, 'DELETE', `/api/worktrees/${id}/lock`),
  answer: (on, { id, session }) =>
    send(on, 'POST', `/cases/${id}/sessions/${session?.id}/permissions/x`, { option_id: 'yes' }),
  'start anew': async (on, { id }) => {
    await send(on, 'POST', `/api/cases/${id}/session/abort`);
    await send(on, 'POST', `/cases/${id}/sessions`, { type: 'implementing' });
  },
  read: async (on, { id, session }) => {
    const { dice } = on;
    await send(on, 'GET', dice.one(LISTS));
    await send(on, 'GET', dice.one(OF_ITEM).replace('@', id));
    const of = dice.one(OF_SESSION).replace('@', id);
    if (session !== undefined) await send(on, 'GET', of.replace('#', session.id));
  },
};

const OFTEN = ['resume', 'resume', 'read', 'read', 'read', 'sweep', 'create'];

/** A few of them, one after the other. Answers what was done, and the statuses of the answers. */
export const operate = async (attacker: Attacker, many: number): Promise<string[]> => {
  const { dice, places } = attacker;
  const done: string[] = [];
  for (let n = 0; n < many; n += 1) {
    const name = dice.one([...OFTEN, ...Object.keys(ACTS)]);
    const at = pick(dice, places);
    const answer = await ACTS[name]?.(attacker, places[at]);
    const status = (answer as { status?: number } | undefined)?.status;
    done.push(`${name} ${at}${status === undefined ? '' : ` ${status}`}`);
  }
  return done;
};

const pick = <T extends string>(dice: Dice, places: Record<T, Place>): T =>
  dice.one(Object.keys(places) as T[]);
