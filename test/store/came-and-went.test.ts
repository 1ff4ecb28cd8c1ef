/** case_created and case_deleted: told once of each Work item, however it came and went. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { allItems, itemIn, itemsOf } from '../../store/reconcile/items.ts';
import { reconcile } from '../../store/reconcile/reconcile.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { EventRecord } from '../../store/records/event.ts';
import { eventually } from '../helpers/eventually.ts';
import { repositoryIn } from '../helpers/many-items.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { writeFiles } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const watched = (t: TestContext): Promise<Running> => startForTest(t, { watch: true });

const make = async ({ call }: Running, title: string): Promise<Case> =>
  (await call<Case>('POST', '/cases', { title, type: 'bug' })).body;

/** Type and title of what came and went, any other event by its type. */
const told = (running: Running): string[] =>
  running.told
    .filter(({ event_type }) => event_type.startsWith('case_'))
    .map(({ event_type, payload }) =>
      'title' in payload ? `${event_type} ${payload.title}` : event_type,
    );

/** Waits until exactly this was told, and then for all that is still under way: nothing more comes. */
const assertTold = async (running: Running, ...expected: string[]): Promise<void> => {
  await eventually(() => assert.deepEqual(told(running), expected));
  const { store } = running.service;
  await sweepWorkspace(store);
  await Promise.all(allItems(store).map(({ id }) => reconcile(store, id)));
  assert.deepEqual(told(running), expected);
};

const byHand = (workspace: string, name: string, text: string): void =>
  writeFiles(join(workspace, 'cases', name), { 'case.md': text });

describe('case_created and case_deleted', () => {
  it('are told of what the API makes and removes, with the id and the title', async (t) => {
    const running = await watched(t);
    const { id } = await make(running, 'Made here');
    await running.call('DELETE', `/cases/${id}`);
    await assertTold(running, 'case_created Made here', 'case_deleted Made here');
    for (const { payload } of running.told) assert.equal(payload.case_id, id);
  });

  it('are told of directories that are made and removed by hand', async (t) => {
    const running = await watched(t);
    byHand(running.workspace, 'by-hand', '---\ntitle: "By\\u202e hand"\n---\nText.\n');
    await assertTold(running, 'case_created By⟦U+202E⟧ hand');
    const [{ payload }] = running.told as [Running['told'][number]];
    const file = join(running.workspace, 'cases/by-hand/case.md');
    assert.match(readFileSync(file, 'utf8'), new RegExp(`id: ${payload.case_id}`));
    rmSync(join(running.workspace, 'cases/by-hand'), { recursive: true });
    await assertTold(running, 'case_created By⟦U+202E⟧ hand', 'case_deleted By⟦U+202E⟧ hand');
  });

  it('come before all else of a Work item', async (t) => {
    const running = await watched(t);
    byHand(running.workspace, 'one', '---\ntitle: One\nstate: OPEN\n---\n');
    await assertTold(running, 'case_created One');
    const file = join(running.workspace, 'cases/one/case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('OPEN', 'BLOCKED'));
    await assertTold(running, 'case_created One', 'case_state_changed');
  });

  it('are not told of a directory that is renamed, or moved to another folder', async (t) => {
    const running = await watched(t);
    const { path } = await make(running, 'Moved');
    const places = [path, 'cases/another-name', 'cases/archive/2026/another-name'];
    for (const [n, to] of places.slice(1).entries()) {
      rename(running.workspace, places[n] ?? '', to);
      await eventually(() => assert.ok(itemIn(running.service.store, to) !== undefined));
    }
    await assertTold(running, 'case_created Moved');
  });

  it('are told of a copy once it has an id of its own', async (t) => {
    const running = await watched(t);
    const { path } = await make(running, 'First');
    const copy = join(running.workspace, 'cases/copy');
    cpSync(join(running.workspace, path), copy, { recursive: true });
    await eventually(() => assert.ok(itemsOf(running.service.store).strangers.has('cases/copy')));
    assert.deepEqual(told(running), ['case_created First']);
    const text = readFileSync(join(copy, 'case.md'), 'utf8');
    writeFileSync(join(copy, 'case.md'), text.replace(/^id: .*\n/m, '').replace('First', 'Second'));
    await assertTold(running, 'case_created First', 'case_created Second');
  });

  it('are told of what a checkout brings and takes away', async (t) => {
    const running = await watched(t);
    await make(running, 'Stays');
    const git = await repositoryIn(running);
    git('checkout', '--quiet', '-b', 'more');
    byHand(running.workspace, 'more', '---\ntitle: More\n---\n');
    await assertTold(running, 'case_created Stays', 'case_created More');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'more');
    running.told.length = 0;
    git('checkout', '--quiet', 'main');
    await assertTold(running, 'case_deleted More');
    git('checkout', '--quiet', 'more');
    await assertTold(running, 'case_deleted More', 'case_created More');
  });

  it('are told once of what came and went while no daemon ran, and not of what moved', async (t) => {
    const running = await watched(t);
    const gone = await make(running, 'Gone');
    const moved = await make(running, 'Moved');
    await running.stop();
    running.told.length = 0;
    rmSync(join(running.workspace, gone.path), { recursive: true });
    rename(running.workspace, moved.path, 'cases/elsewhere');
    byHand(running.workspace, 'new', '---\ntitle: New\n---\n');
    await running.restart();
    assert.deepEqual(kept(running), [
      ...['case_created Gone', 'case_created Moved'],
      ...['case_created New', 'case_deleted Gone'],
    ]);
    await running.restart();
    await assertTold(running);
  });

  it('are not told of what is in a workspace that no daemon knows', async (t) => {
    const running = await watched(t);
    await make(running, 'Old');
    await running.stop();
    running.told.length = 0;
    rmSync(join(running.workspace, '.dossier/journal'), { recursive: true });
    await running.restart();
    const ofItems = kept(running).filter((one) => one.startsWith('case_'));
    assert.deepEqual(ofItems, []);
    byHand(running.workspace, 'new', '---\ntitle: New\n---\n');
    await assertTold(running, 'case_created New');
  });

  it('reach a receiver that names them, and none that wants `*` or nothing in particular', async (t) => {
    const running = await watched(t);
    const [all, named, own] = [await openReceiver(t), await openReceiver(t), await openReceiver(t)];
    const register = (url: string, events: string[]) =>
      running.call('POST', '/webhooks', { url, events });
    assert.equal((await register(all.url, ['*'])).status, 201);
    assert.equal((await register(named.url, ['case_created', 'case_deleted'])).status, 201);
    const { id } = await make(running, 'One');
    await running.call('POST', `/cases/${id}/webhooks`, { url: own.url });
    await running.call('PUT', `/cases/${id}/state`, { state: 'BLOCKED' });
    const typesOf = async (receiver: typeof all, count: number): Promise<string[]> =>
      (await receiver.atLeast(count)).map(({ body }) => JSON.parse(body).event_type);
    for (const starred of [all, own])
      assert.deepEqual(await typesOf(starred, 1), ['case_state_changed']);
    await running.call('DELETE', `/cases/${id}`);
    assert.deepEqual(await typesOf(named, 2), ['case_created', 'case_deleted']);
    assert.equal(all.received.length + own.received.length, 2);
  });
});

const rename = (workspace: string, from: string, to: string): void => {
  writeFiles(workspace, { [join(to, '..', '.keep')]: '' });
  renameSync(join(workspace, from), join(workspace, to));
};

/** The events of the journal, those that a restart made before anybody listened among them. */
const kept = ({ workspace }: Running): string[] => {
  const [name = ''] = readdirSync(join(workspace, '.dossier/journal')).slice(-1);
  const text = readFileSync(join(workspace, '.dossier/journal', name), 'utf8');
  const lines = text.replaceAll('\0', '').trimEnd().split('\n');
  return lines
    .flatMap((line) => (JSON.parse(line.slice(9)) as { events?: EventRecord[] }).events ?? [])
    .map(({ body }) => `${body.event_type} ${'title' in body.payload ? body.payload.title : ''}`);
};
