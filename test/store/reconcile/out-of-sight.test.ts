import { itemOf, itemsOf } from '../../../store/reconcile/items.ts';
import { registrationsOf } from '../../../store/webhooks/webhooks.ts';
/** Work items that are not where they were for longer than the grace period, and come back. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openJournal } from '../../../store/journal/journal.ts';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import type { Case } from '../../../store/records/case.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually, until } from '../../helpers/eventually.ts';
import {
  caseText,
  dirOf,
  idOf,
  watchedItems,
  write,
  writeItems,
} from '../../helpers/many-items.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import type { Running } from '../../helpers/service.ts';
import { assertProblem, told, type WithCase, withCase } from '../../helpers/work-item.ts';
import { makeRoot, openRoot } from '../../helpers/workspace.ts';

const outOf = async (t: TestContext) => {
  const work = await withCase(t, {}, { watch: true });
  const away = `${work.running.workspace}-away`;
  atEnd(t, () => rmSync(away, { recursive: true, force: true }));
  const back = (): void => renameSync(away, work.dir);
  renameSync(work.dir, away);
  await eventually(async () => assertProblem(await work.call('GET', work.at), 404, 'not_found'));
  return { work, away, back };
};

const edit = (dir: string): void => {
  const file = join(dir, 'case.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace('state: OPEN', 'state: BLOCKED'));
};

const typesOf = ({ running }: WithCase): string[] =>
  running.told.map(({ event_type }) => event_type);

describe('a Work item that was out of sight', () => {
  it('tells what changed meanwhile, behind that it was gone and is there again', async (t) => {
    const { work, away, back } = await outOf(t);
    edit(away);
    back();
    await eventually(() =>
      assert.deepEqual(told(work.events), ['case_state_changed OPEN BLOCKED']),
    );
    const [, ...types] = typesOf(work);
    assert.deepEqual(types, ['case_deleted', 'case_created', 'case_state_changed']);
    assert.equal(work.running.service.store.journal.gone.size, 0);
  });

  it('tells it over a restart too, whether or not the daemon ran as it went', async (t) => {
    const { work, away, back } = await outOf(t);
    await work.running.restart();
    edit(away);
    back();
    await eventually(() =>
      assert.deepEqual(told(work.events), ['case_state_changed OPEN BLOCKED']),
    );
    await work.running.stop();
    renameSync(work.dir, away);
    await work.running.restart();
    edit(away);
    writeFileSync(
      join(away, 'case.md'),
      readFileSync(join(away, 'case.md'), 'utf8').replace('BLOCKED', 'IMPLEMENTING'),
    );
    back();
    await eventually(() => assert.equal(work.events.length, 2));
    assert.equal(told(work.events)[1], 'case_state_changed BLOCKED IMPLEMENTING');
  });

  it('is no news as such, and none of one that was deleted by the API', async (t) => {
    const { work, away, back } = await outOf(t);
    back();
    await eventually(async () => assert.equal((await work.call('GET', work.at)).status, 200));
    cpSync(work.dir, away, { recursive: true });
    assert.equal((await work.call('DELETE', work.at)).status, 204);
    edit(away);
    back();
    await eventually(async () => assert.equal((await work.call('GET', work.at)).status, 200));
    await sweepWorkspace(work.running.service.store);
    assert.deepEqual(told(work.events), []);
  });
});

describe('what is kept of Work items that are gone', () => {
  it('is bounded in number and in time, over restarts', async (t) => {
    const dir = join(temporaryDirectory(t), 'journal');
    const journal = await openJournal(dir);
    const seen = {
      dir: 'cases/a',
      case: {
        sha: '',
        matter: { id: 'a', title: 'a', type: 'bug', state: 'OPEN' as const, created_at: 'x' },
        description: '',
      },
      proofs: {},
    };
    const goes = (id: string, at: string) => journal.append({ gone: { id, state: { seen, at } } });
    const now = new Date().toISOString();
    await goes('old', new Date(Date.now() - 8 * 86_400_000).toISOString());
    await Promise.all(Array.from({ length: 20_010 }, (_, n) => goes(`${n}`, now)));
    assert.equal(journal.gone.size, 20_000);
    assert.ok(journal.gone.has('20009') && !journal.gone.has('5'));
    await goes('old', new Date(Date.now() - 8 * 86_400_000).toISOString());
    await journal.close();
    const again = await openJournal(dir);
    atEnd(t, () => again.close());
    assert.ok(again.gone.size > 19_000 && !again.gone.has('old'));
  });
});

describe('a copy of a Work item', () => {
  for (const [what, text] of [
    ['that is half saved', '---\nid: '],
    ['whose front matter is broken', '---\ntitle: [\n---\n'],
    ['that is empty', ''],
  ] as const)
    it(`does not become the original ${what} when the daemon starts`, async (t) => {
      const root = makeRoot();
      atEnd(t, () => rmSync(root, { recursive: true, force: true }));
      writeItems(root, 1);
      await (await openRoot(root)).close();
      // It comes first when directories are read.
      const copy = 'cases/2025-01/a-copy';
      mkdirSync(join(root, dirname(copy)), { recursive: true });
      cpSync(join(root, dirOf(0)), join(root, copy), { recursive: true });
      writeFileSync(join(root, dirOf(0), 'case.md'), text);
      const again = await openRoot(root);
      atEnd(t, () => again.close());
      assert.equal(itemOf(again.store, idOf(0))?.dir, dirOf(0));
      assert.deepEqual([...itemsOf(again.store).strangers], [copy]);
      write(join(root, dirOf(0), 'case.md'), caseText(0));
      await sweepWorkspace(again.store);
      assert.equal(itemOf(again.store, idOf(0))?.files.case.problem, undefined);
      assert.ok(itemsOf(again.store).strangers.has(copy));
      assert.deepEqual(
        again.store.problems.all().map(({ code }) => code),
        ['duplicate_id'],
      );
    });
});

describe('a workspace that was away', () => {
  const served = async ({ call }: Running, n: number): Promise<number> =>
    (await call<Case>('GET', `/cases/${idOf(n)}`)).status;

  it('answers as it was last while it is away, and while it comes back piece by piece', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    const away = `${workspace}-away`;
    atEnd(t, () => rmSync(away, { recursive: true, force: true }));
    renameSync(workspace, away);
    await sweepWorkspace(service.store);
    await until(() => itemsOf(service.store).away_at !== undefined);
    assert.equal(await served(running, 0), 200);
    mkdirSync(workspace);
    for (const part of ['.dossier', dirOf(0)])
      cpSync(join(away, part), join(workspace, part), { recursive: true });
    await sweepWorkspace(service.store);
    // Much longer than the grace period.
    const since = performance.now();
    await until(async () => {
      for (const n of [0, 1, 2]) assert.equal(await served(running, n), 200, `item ${n}`);
      return performance.now() - since > 800;
    });
    cpSync(away, workspace, { recursive: true });
    await eventually(() => assert.equal(itemsOf(service.store).missing.size, 0));
    assert.deepEqual(
      running.told.filter(({ event_type }) => event_type === 'case_deleted'),
      [],
    );
  });

  it('keeps its settings and receivers meanwhile', async (t) => {
    const { running } = await withCase(
      t,
      {},
      { settings: 'require_key: false\nautocommit: false\n' },
    );
    const { workspace, service, call } = running;
    await call('POST', '/webhooks', { url: 'http://127.0.0.1:9/' });
    const before = settingsOf(service.store);
    renameSync(workspace, `${workspace}-away`);
    atEnd(t, () => rmSync(`${workspace}-away`, { recursive: true, force: true }));
    for (let n = 0; n < 2; n += 1) await sweepWorkspace(service.store);
    assert.deepEqual(settingsOf(service.store), before);
    assert.equal(registrationsOf(service.store, undefined).length, 1);
    renameSync(`${workspace}-away`, workspace);
  });
});
