/** What the daemon answers before it has compared the workspace with its files. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createServer } from '../../lib/daemon/server.ts';
import { startService } from '../../lib/daemon/startup.ts';
import { sections } from '../../routes/index.ts';
import type { Case } from '../../store/records/case.ts';
import { atEnd } from '../helpers/at-end.ts';
import { configOn, type Running, startForTest } from '../helpers/service.ts';
import { VERSION } from '../helpers/version.ts';

const drop = (): void => undefined;
const SILENT = { debug: drop, info: drop, warn: drop, error: drop };

const make = async ({ call }: Running, title: string): Promise<Case> =>
  (await call<Case>('POST', '/cases', { title, type: 'bug' })).body;

const edit = (workspace: string, path: string, from: string, to: string): void => {
  const file = join(workspace, path, 'case.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};

/** A daemon on a workspace of these Work items, which changed while none ran. It compares nothing until `begin`. */
const startEarly = async (
  t: TestContext,
  titles: readonly string[],
  change: (workspace: string, made: Case[]) => void,
) => {
  const first = await startForTest(t);
  const made: Case[] = [];
  for (const title of titles) made.push(await make(first, title));
  await first.stop();
  change(first.workspace, made);
  const running = await startService(
    configOn(first.workspace, first.repository.root, {}),
    SILENT,
    VERSION,
  );
  const { service } = running;
  const told: string[] = [];
  service.store.journal.onEvents((events) =>
    told.push(...events.map(({ body }) => body.event_type)),
  );
  const hapi = createServer({ sections, service, host: '127.0.0.1', port: 0 });
  atEnd(t, async () => {
    await hapi.stop();
    await running.close();
  });
  const get = async <T>(url: string): Promise<T> =>
    JSON.parse((await hapi.inject({ url, headers: { host: 'localhost' } })).payload) as T;
  return { made, told, get, begin: running.begin };
};

const titlesOf = (list: readonly Case[]): string[] => list.map(({ title }) => title);

describe('a daemon that has not compared its files', () => {
  it('answers a Work item as its file is now, and tells the change once', async (t) => {
    const { made, told, get, begin } = await startEarly(t, ['One', 'Two'], (workspace, [one]) =>
      edit(workspace, one?.path ?? '', 'state: OPEN', 'state: INVESTIGATING'),
    );
    const id = made[0]?.id ?? '';

    assert.equal((await get<Case>(`/cases/${id}`)).state, 'INVESTIGATING');
    assert.deepEqual(await get('/health'), { status: 'ok', comparing: { left: 1 } });
    await begin();

    assert.deepEqual(await get('/health'), { status: 'ok' });
    assert.equal((await get<Case>(`/cases/${id}`)).state, 'INVESTIGATING');
    assert.deepEqual(told, ['case_state_changed']);
  });

  it('answers one that was moved, removed or made meanwhile once it has found it', async (t) => {
    const NEW = 'c0ffee00-0000-4000-8000-000000000000';
    const { made, told, get, begin } = await startEarly(
      t,
      ['Moved', 'Removed'],
      (workspace, [moved, removed]) => {
        mkdirSync(join(workspace, 'cases/elsewhere'));
        renameSync(join(workspace, moved?.path ?? ''), join(workspace, 'cases/elsewhere/it'));
        rmSync(join(workspace, removed?.path ?? ''), { recursive: true });
        mkdirSync(join(workspace, 'cases/new'));
        writeFileSync(
          join(workspace, 'cases/new/case.md'),
          `---\nid: ${NEW}\ntitle: New\ntype: bug\nstate: OPEN\ncreated_at: 2026-01-01T00:00:00Z\n---\n`,
        );
      },
    );
    const answers = Promise.all(
      [made[0]?.id, made[1]?.id, NEW].map((id) => get<Case & { code?: string }>(`/cases/${id}`)),
    );
    await begin();

    const [moved, removed, fresh] = await answers;
    assert.equal(moved?.path, 'cases/elsewhere/it');
    assert.equal(removed?.code, 'not_found');
    assert.equal(fresh?.title, 'New');
    assert.deepEqual(told.toSorted(), ['case_created', 'case_deleted']);
  });

  it('compares the page of a list before it sends it', async (t) => {
    const { get } = await startEarly(t, ['One', 'Two', 'Three'], (workspace, [one]) =>
      edit(workspace, one?.path ?? '', 'state: OPEN', 'state: INVESTIGATING'),
    );

    assert.deepEqual(titlesOf(await get('/cases?state=OPEN&limit=1')), ['Two']);
    assert.deepEqual(await get('/health'), { status: 'ok', comparing: { left: 1 } });
  });

  it('has other calls, and lists that need all files, wait', async (t) => {
    const { get, begin } = await startEarly(t, ['One', 'Two'], (workspace, [, two]) =>
      edit(workspace, two?.path ?? '', 'title: Two', 'title: Second'),
    );
    const order: string[] = [];
    const note = async (url: string): Promise<void> => {
      await get(url);
      order.push(url);
    };
    const waiting = ['/cases', '/cases?search=second&limit=1', '/api/diagnostics'].map(note);
    await note('/version');
    assert.deepEqual(order, ['/version']);
    const begun = begin();
    assert.deepEqual(titlesOf(await get('/cases?search=second&limit=1')), ['Second']);
    await Promise.all([...waiting, begun]);
    assert.equal(order.length, 4);
  });
});
