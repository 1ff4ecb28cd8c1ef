/** A workspace with something of everything in it, below one directory with all that belongs to it. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../lib/config.ts';
import type { Case } from '../../store/records/case.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';
import { type Answered, configOn, type Running, startOn } from '../helpers/service.ts';
import { endThreads } from './unwatched.ts';

/** What a world has besides a Work item with a worktree: one with a plan that waits, and one that is worked on by hand. */
export type Image = 'plain' | 'sessions';

export interface World {
  root: string;
  /** The Work item that all is about. */
  id: string;
  path: string;
  /** Its proof. */
  pid: string;
  /** Its session, of which the plan waits; empty where there is none. */
  sid: string;
  /** A Work item with a session of the manual provider in Work mode. */
  manual: { id: string; sid: string };
}

export const workspaceOf = (root: string): string => join(root, 'workspace');

const optionsOf = (root: string) => ({
  ...{ state: join(root, 'state/dossier'), trust: false },
  env: { HOME: join(root, 'home'), XDG_STATE_HOME: join(root, 'state') },
});

/** The daemon on this world, in this process. */
export const live = (root: string): Promise<Running> =>
  startOn(workspaceOf(root), join(root, 'repository'), optionsOf(root));

/** Stops it, and what outlives it. */
export const end = async (life: Pick<Running, 'stop'>): Promise<void> => {
  await life.stop();
  await endThreads();
};

/** What a command of the program is given that works on this world. */
export const configOf = (root: string): Config =>
  configOn(workspaceOf(root), join(root, 'repository'), optionsOf(root));

/** Asks, and fails where the answer is a refusal. */
export const must = async <T>(
  { call }: Pick<Running, 'call'>,
  what: string,
  body?: unknown,
): Promise<T> => {
  const answer = await ask<T>({ call }, what, body);
  assert.ok(answer.status < 300, `${what}: ${answer.status} ${answer.text}`);
  return answer.body;
};

export const ask = <T>(
  { call }: Pick<Running, 'call'>,
  what: string,
  body?: unknown,
): Promise<Answered<T>> => {
  const [method = '', path = ''] = what.split(' ');
  return call<T>(method, path, body);
};

const PLAN = '```sh\necho once >> done.txt\n```\n';
const SETTINGS = '---\nprovider: runbook\nsandbox: off\n---\n';

/** Makes the directory, without a session in it. */
export const makePlain = async (root: string): Promise<World> => {
  for (const name of ['workspace', 'home', 'state']) mkdirSync(join(root, name));
  makeRepository(join(root, 'repository'));
  writeFileSync(join(workspaceOf(root), 'workspace.md'), SETTINGS);
  const life = await live(root);
  try {
    await must(life, 'POST /trust', { all: true });
    return await makeItem(root, life);
  } finally {
    await end(life);
  }
};

const makeRepository = (root: string): void => {
  mkdirSync(root);
  const git = gitIn(root);
  git('init', '--quiet', '--initial-branch=main', '--template=');
  appendFileSync(join(root, '.git/config'), '[user]\n\tname = A\n\temail = a@example.com\n');
  writeFiles(root, { 'a.txt': 'one\n', 'src/b.txt': 'two\n' });
  git('add', '--all');
  git('commit', '--quiet', '--message', 'start');
};

const makeItem = async (root: string, life: Running): Promise<World> => {
  const { id, path } = await must<Case>(life, 'POST /cases', {
    ...{ title: 'Before', type: 'feature', description: PLAN },
  });
  await must(life, `PUT /cases/${id}/memory/notes.md`, 'Before.\n');
  const { id: pid } = await must<Proof>(life, `POST /cases/${id}/proof`, {
    ...{ type: 'log', content: 'seen' },
  });
  await must(life, 'POST /api/global-memory/write', { content: 'Before.\n', mode: 'replace' });
  await must(life, 'POST /api/worktrees', { case_id: id });
  return { root, id, path, pid, sid: '', manual: { id: '', sid: '' } };
};

/** Adds the sessions. */
export const addSessions = async (world: World): Promise<World> => {
  const life = await live(world.root);
  try {
    const sid = await planned(life, world.id, 'runbook');
    const { id } = await must<Case>(life, 'POST /cases', {
      ...{ title: 'By hand', type: 'task', description: 'Do it.' },
    });
    const manual = { id, sid: await byHand(life, id) };
    return { ...world, sid, manual };
  } finally {
    await end(life);
  }
};

const planned = async (life: Running, id: string, provider: string): Promise<string> => {
  const body = { type: 'implementing', provider };
  const { id: sid } = await must<Session>(life, `POST /cases/${id}/sessions`, body);
  await untilStatus(life, `/cases/${id}/sessions/${sid}`, 'plan_ready');
  return sid;
};

export const byHand = async (life: Running, id: string): Promise<string> => {
  const body = { type: 'implementing', provider: 'manual' };
  const { id: sid } = await must<Session>(life, `POST /cases/${id}/sessions`, body);
  const at = `/cases/${id}/sessions/${sid}`;
  await must(life, `PUT ${at}/plan`, 'By hand.\n');
  await untilStatus(life, at, 'plan_ready');
  await must(life, `POST ${at}/approve`);
  await untilStatus(life, at, 'working');
  return sid;
};

export const untilStatus = (life: Running, at: string, ...wanted: string[]): Promise<void> =>
  eventually(async () => {
    const { status, error } = await must<Session>(life, `GET ${at}`);
    assert.ok(wanted.includes(status), `${status} is none of ${wanted}: ${error}`);
  });
