/** All that a client can read of a world, as a table: path → what is answered. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Running } from '../helpers/service.ts';
import { ask, type World } from './world.ts';

export type Views = Record<string, string>;

/** Reads everything, and what it finds on the way. */
export const look = async (life: Running, world: World): Promise<Views> => {
  const views: Views = {};
  const read = async <T>(path: string): Promise<T | undefined> => {
    const { status, body, text } = await ask<T>(life, `GET ${path}`);
    views[path] = status === 200 ? shown(body, text) : `${status}`;
    return status === 200 ? body : undefined;
  };
  const all = async (...paths: string[]): Promise<void> => {
    for (const path of paths) await read(path);
  };
  const cases = (await read<{ id: string }[]>('/cases')) ?? [];
  for (const id of new Set([world.id, ...cases.map((item) => item.id)]))
    await lookAtItem(id, read, all);
  for (const path of FILES)
    await read(`/cases/${world.id}/editor/files?path=${encodeURIComponent(path)}`);
  await all('/api/global-memory/global.md', '/settings', '/webhooks', '/trust', '/api/diagnostics');
  const snapshots = await read<{ id: string }[]>('/api/global-memory/snapshots');
  for (const { id } of snapshots ?? []) await read(`/api/global-memory/snapshots/${id}`);
  return views;
};

/** The files of the worktree that operations write. */
export const FILES = ['a.txt', 'src/b.txt', 'new/deep/c.txt', 'moved.txt', 'done.txt'];

type Read = <T>(path: string) => Promise<T | undefined>;

const lookAtItem = async (
  id: string,
  read: Read,
  all: (...paths: string[]) => Promise<void>,
): Promise<void> => {
  const at = `/cases/${id}`;
  if ((await read(at)) === undefined) return;
  await all(`${at}/memory`, `${at}/memory/notes.md`, `${at}/proof`, `${at}/webhooks`);
  await all(`${at}/proof/checklist`, `${at}/proof/gate`, `/api${at}/planning/gate`);
  await all(`/api${at}/planning-artifacts/tasks.md`, `/api${at}/worktree`);
  for (const { id: sid } of (await read<{ id: string }[]>(`${at}/sessions`)) ?? [])
    await all(
      ...[`${at}/sessions/${sid}`, `${at}/sessions/${sid}/plan`, `${at}/sessions/${sid}/comments`],
      `${at}/sessions/${sid}/plan?which=approved`,
    );
};

const shown = (body: unknown, text: string): string => {
  if (body === undefined) return text;
  return JSON.stringify(body, (key, value) => (VOLATILE.has(key) ? undefined : value));
};

// What says how things are this moment, and not what is kept.
const VOLATILE = new Set(['updated_at', 'waiting', 'checked_at', 'last_used_at', 'since']);

/** Looks again for some time while it is not as it should be. */
export const lookUntil = async (
  life: Running,
  world: World,
  whatIsWrong: (views: Views) => string | undefined,
): Promise<string | undefined> => {
  for (let tries = 0; ; tries += 1) {
    const wrong = whatIsWrong(await look(life, world));
    if (wrong === undefined || tries === TRIES) return wrong;
    await delay(PAUSE_MS);
  }
};

const TRIES = 4;
const PAUSE_MS = 60;
