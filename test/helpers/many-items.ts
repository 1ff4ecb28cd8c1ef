import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { lockOn } from '../../store/base/locks.ts';
import { allItems, itemOf, itemsOf } from '../../store/reconcile/items.ts';
import { reconcile } from '../../store/reconcile/reconcile.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { eventually } from './eventually.ts';
import { gitIn, type TestRepository } from './repository.ts';
import { type Running, startForTest } from './service.ts';

export const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Where the Work item of this number is made: some hundred in a month. */
export const dirOf = (n: number): string => `cases/2026-0${1 + (n % 3)}/item-${n}`;

export const write = (path: string, text: string): void => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
};

export const caseText = (n: number, state = 'OPEN', description = ''): string =>
  `---\nid: ${idOf(n)}\ntitle: Number ${n}\ntype: bug\nstate: ${state}\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n${description}`;

export const proofText = (content: string): string =>
  `---\nid: ${randomUUID()}\ntype: log\nverified: false\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n\n${content}\n`;

/** So many Work items, each with a proof. */
export const writeItems = (workspace: string, count: number): void => {
  for (let n = 0; n < count; n += 1) {
    write(join(workspace, dirOf(n), 'proof/one.md'), proofText('as it was'));
    write(join(workspace, dirOf(n), 'case.md'), caseText(n));
  }
};

/** A running daemon that watches so many Work items; nothing is left to tell. */
export const watchedItems = async (t: TestContext, count: number): Promise<Running> => {
  const running = await startForTest(t, { watch: true });
  writeItems(running.workspace, count);
  await settled(running);
  running.events.length = 0;
  return running;
};

/** Everything that a hint began has been told, what is gone is gone for good, and a sweep finds nothing more. */
export const settled = async ({ service: { store } }: Running): Promise<void> => {
  await sweepWorkspace(store);
  await Promise.all(allItems(store).map(({ id }) => reconcile(store, id)));
  await eventually(() => assert.equal(itemsOf(store).missing.size, 0));
  await Promise.all(allItems(store).map(({ id }) => store.locks.whenFree(lockOn.item(id))));
};

/** The workspace as a git repository of the operator, with what is there committed on `main`. */
export const repositoryIn = async ({
  workspace,
  service,
}: Running): Promise<TestRepository['git']> => {
  const git = gitIn(workspace);
  await makeWorkspaceFiles(service.store.layout);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'An Operator');
  git('config', 'user.email', 'one@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'main');
  return git;
};

/** Commits a change of the files on a branch, and goes back to `main`; the daemon is stopped meanwhile. */
export const commitBranch = async (
  running: Running,
  git: TestRepository['git'],
  change: () => void,
): Promise<void> => {
  await running.stop();
  git('checkout', '--quiet', '-b', 'other');
  change();
  git('add', '--all');
  git('commit', '--quiet', '--message', 'other');
  git('checkout', '--quiet', 'main');
  await running.restart();
  await settled(running);
};

/** What git says that differs between two branches. */
export const differing = (
  git: TestRepository['git'],
  from: string,
  to: string,
): [string, string][] =>
  git('diff', '--name-status', '--no-renames', from, to)
    .trim()
    .split('\n')
    .map((line) => line.split('\t') as [string, string]);

/** The same as events: of Work items that are on both. */
export const eventsOf = (changes: [string, string][]): string[] => {
  const ofOne = new Set(
    changes
      .filter(([kind, path]) => kind !== 'M' && path.endsWith('/case.md'))
      .map(([, path]) => path.replace('/case.md', '')),
  );
  return changes
    .filter(([, path]) => !ofOne.has(path.split('/').slice(0, 3).join('/')))
    .flatMap(([kind, path]) => eventOf(kind, path) ?? [])
    .toSorted();
};

const eventOf = (kind: string, path: string): string | undefined => {
  const dir = path.replace(/\/(case\.md|proof\/.*)$/, '');
  if (path.endsWith('/case.md')) return `case_state_changed ${dir}`;
  if (kind === 'D') return undefined;
  return `${kind === 'A' ? 'proof_created' : 'proof_updated'} ${dir}`;
};

/** What was told, in the same words. */
export const heard = ({ events, service: { store } }: Running): string[] =>
  events
    .map(({ event_type, payload }) => `${event_type} ${itemOf(store, payload.case_id ?? '')?.dir}`)
    .toSorted();

export const edit = ({ workspace }: Running, n: number, from: string, to: string): void => {
  const path = join(workspace, dirOf(n), 'case.md');
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
};

/** What a hand writes in a Work item is told by the watcher, long before the minute's sweep would find it. */
export const assertHeard = async (running: Running, ...items: number[]): Promise<void> => {
  for (const n of items) {
    running.events.length = 0;
    edit(running, n, 'type: bug', 'type: task');
    await eventually(() => assert.deepEqual(heard(running), [`case_updated ${dirOf(n)}`]));
    write(join(running.workspace, dirOf(n), `proof/${randomUUID()}.md`), proofText('new'));
    const both = [`case_updated ${dirOf(n)}`, `proof_created ${dirOf(n)}`];
    await eventually(() => assert.deepEqual(heard(running), both));
    edit(running, n, 'type: task', 'type: bug');
    await eventually(() => assert.equal(running.events.length, 3));
  }
};
