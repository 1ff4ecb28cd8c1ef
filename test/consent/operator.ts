/** What an operator does all day that says yes to nothing of what was changed. */
import type { Attacker, Dice } from './attacks.ts';
import type { Place } from './world.ts';

const LISTS = [
  ...['/cases', '/trust', '/attention', '/settings', '/providers', '/webhooks', '/health'],
  ...['/api/diagnostics', '/api/machine', '/api/worktrees', '/api/worktrees/stale', '/dashboard'],
  ...['/api/worktrees/config', '/api/sessions/queue', '/api/sessions/active', '/dashboard/trust'],
  ...['/api/sessions/newest', '/api/sessions/providers', '/api/export', '/dashboard/inbox'],
  ...[
    '/api/codehost/settings',
    '/api/codehost/availability',
    '/api/global-memory',
    '/dashboard/keys',
  ],
];

const OF_ITEM = [
  ...['/cases/@', '/cases/@/history', '/cases/@/sessions', '/cases/@/usage', '/cases/@/memory'],
  ...['/cases/@/proof', '/cases/@/proof/checklist', '/cases/@/proof/gate', '/cases/@/webhooks'],
  ...['/api/cases/@/planning/gate', '/api/cases/@/planning/readiness', '/api/cases/@/worktree'],
  ...['/api/cases/@/planning-artifacts', '/api/cases/@/conflicts/preview', '/cases/@/export'],
  ...['/api/cases/@/conflicts/history', '/api/worktrees/@/health', '/api/worktrees/@/status'],
  ...['/api/worktrees/@/memory-root', '/api/worktrees/@/recoveries', '/api/worktrees/@/lock'],
  ...['/cases/@/editor/directories', '/cases/@/editor/files?path=README.md', '/dashboard/cases/@'],
  ...['/api/cases/@/pr', '/api/cases/@/github'],
];

const OF_SESSION = ['', '/boundary', '/plan', '/comments', '/diff', '/stream'];

type Act = (attacker: Attacker, at: Place) => Promise<unknown>;

const send = ({ host, key }: Attacker, method: string, path: string, body?: unknown) =>
  host.call(method, path, body, key);

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
    const of = `/cases/${id}/sessions/${session?.id}${dice.one(OF_SESSION)}`;
    if (session !== undefined) await send(on, 'GET', of);
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
