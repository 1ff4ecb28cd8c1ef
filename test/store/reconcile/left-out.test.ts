/** Directories below cases/ that are not entered: the operator is told, until they are mended. */

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { check } from '../../../lib/cli/check.ts';
import type { ToldState } from '../../../store/journal/journal-state.ts';
import { itemIn } from '../../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import type { AttentionItem } from '../../../store/records/attention.ts';
import type { Case } from '../../../store/records/case.ts';
import type { ProblemRecord } from '../../../store/records/problem.ts';
import { callOf } from '../../helpers/call-of.ts';
import { eventually } from '../../helpers/eventually.ts';
import { caseText, dirOf, idOf, write } from '../../helpers/many-items.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { type Running, startForTest } from '../../helpers/service.ts';

const ITEM = dirOf(1);
const MONTH = ITEM.slice(0, ITEM.lastIndexOf('/'));
const LATIN = Buffer.from(`${MONTH}/caf\xe9`, 'latin1');

const named = (root: string, path: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), path]);

interface Spoilt {
  file: string;
  code: string;
  spoil: (root: string, outside: string) => void;
  mend: (root: string, outside: string) => void;
}

const throughLink = (dir: string): Pick<Spoilt, 'spoil' | 'mend'> => ({
  spoil: (root, outside) => {
    renameSync(join(root, dir), join(outside, 'away'));
    symlinkSync(join(outside, 'away'), join(root, dir));
  },
  mend: (root, outside) => {
    rmSync(join(root, dir));
    renameSync(join(outside, 'away'), join(root, dir));
  },
});

const SPOILT: Record<string, Spoilt> = {
  'a Work item whose name is not UTF-8': {
    file: `${MONTH}/caf\ufffd`,
    code: 'unreadable_name',
    spoil: (root) => renameSync(join(root, ITEM), named(root, LATIN)),
    mend: (root) => renameSync(named(root, LATIN), join(root, ITEM)),
  },
  'a Work item that is a link': { file: ITEM, code: 'symbolic_link', ...throughLink(ITEM) },
  'a month that is a link': { file: MONTH, code: 'symbolic_link', ...throughLink(MONTH) },
};

const titles = async ({ call }: Running): Promise<string[]> =>
  (await call<Case[]>('GET', '/cases')).body.map(({ title }) => title);

const diagnosed = async ({ call }: Running): Promise<string[][]> =>
  (await call<ProblemRecord[]>('GET', '/api/diagnostics')).body.map(({ file, code }) => [
    file,
    code,
  ]);

const inboxed = async ({ call }: Running): Promise<(string | undefined)[]> =>
  (await call<AttentionItem[]>('GET', '/attention')).body.map(({ file }) => file);

const checked = async ({ workspace }: Pick<Running, 'workspace'>): Promise<string[]> => {
  const said: string[] = [];
  await check(callOf(['check', '--workspace', workspace], process.env), (line) => said.push(line));
  return said.filter((line) => line.includes(' error '));
};

describe('what is below cases/ and is not entered', () => {
  for (const [what, { file, code, spoil, mend }] of Object.entries(SPOILT))
    it(`is told, and no longer once it is mended: ${what}`, async (t) => {
      const running = await startForTest(t, { watch: true });
      const { workspace, service } = running;
      const outside = temporaryDirectory(t);
      write(join(workspace, ITEM, 'case.md'), caseText(1));
      await eventually(async () => assert.deepEqual(await titles(running), ['Number 1']));
      spoil(workspace, outside);
      await eventually(async () => {
        assert.deepEqual(await titles(running), []);
        assert.deepEqual(await diagnosed(running), [[file, code]]);
        assert.deepEqual(await inboxed(running), [file]);
      });
      await sweepWorkspace(service.store);
      await running.restart();
      assert.deepEqual(await titles(running), []);
      assert.deepEqual(await diagnosed(running), [[file, code]]);
      const [line = '', ...others] = await checked(running);
      assert.ok(line.startsWith(`${file} error ${code} `), line);
      assert.deepEqual(others, []);
      assert.deepEqual(
        running.logged.filter(({ message }) => message.startsWith(file)).length,
        2,
        'once by each start',
      );
      mend(workspace, outside);
      await eventually(async () => {
        assert.deepEqual(await titles(running), ['Number 1']);
        assert.deepEqual(await diagnosed(running), []);
        assert.deepEqual(await inboxed(running), []);
      });
      assert.deepEqual(await checked(running), []);
    });

  for (const name of ['.hidden', '.#lock'])
    it(`is a Work item for neither daemon nor check where its name begins with a dot: ${name}`, async (t) => {
      const running = await startForTest(t, { watch: true });
      const { workspace } = running;
      const hidden = join(workspace, MONTH, name);
      write(join(workspace, ITEM, 'case.md'), caseText(1));
      await eventually(async () => assert.deepEqual(await titles(running), ['Number 1']));
      mkdirSync(join(workspace, MONTH, '.git'));
      renameSync(join(workspace, ITEM), hidden);
      await eventually(async () => assert.deepEqual(await titles(running), []));
      write(join(hidden, 'case.md'), caseText(1, 'BLOCKED'));
      write(join(workspace, dirOf(2), 'case.md'), caseText(2));
      for (const restart of [async () => undefined, running.restart]) {
        await restart();
        await eventually(async () => assert.deepEqual(await titles(running), ['Number 2']));
        assert.deepEqual(await diagnosed(running), []);
        assert.deepEqual(await checked(running), []);
      }
      renameSync(hidden, join(workspace, ITEM));
      await eventually(async () =>
        assert.deepEqual((await titles(running)).toSorted(), ['Number 1', 'Number 2']),
      );
    });

  it('is none where an earlier version served it, and check says nothing', async (t) => {
    const root = temporaryDirectory(t);
    const shown = join(root, MONTH, 'shown');
    write(join(root, ITEM, 'case.md'), caseText(1));
    write(join(shown, 'case.md'), caseText(2));
    const running = await startForTest(t, { workspace: root });
    assert.equal((await titles(running)).length, 2);
    const { journal } = running.service.store;
    const seen = journal.seen.get(idOf(2)) as ToldState;
    await journal.append({ seen: { id: idOf(2), state: { ...seen, dir: `${MONTH}/.shown` } } });
    await running.stop();
    renameSync(shown, join(root, MONTH, '.shown'));
    assert.deepEqual(await checked({ workspace: root }), []);
    const again = await startForTest(t, { workspace: root });
    assert.equal((await again.call('GET', `/cases/${idOf(2)}`)).status, 404);
    assert.deepEqual(await titles(again), ['Number 1']);
    assert.deepEqual(await diagnosed(again), []);
  });

  it('is told beside Work items that are, when it was there from the beginning', async (t) => {
    const root = temporaryDirectory(t);
    const outside = temporaryDirectory(t);
    write(join(root, ITEM, 'case.md'), caseText(1));
    mkdirSync(named(root, LATIN));
    symlinkSync(outside, join(root, `${MONTH}/linked`));
    symlinkSync('nobody@nowhere.1:1', join(root, `${MONTH}/.#item`));
    const running = await startForTest(t, { workspace: root });
    assert.deepEqual(await titles(running), ['Number 1']);
    assert.deepEqual(await diagnosed(running), [
      [`${MONTH}/caf\ufffd`, 'unreadable_name'],
      [`${MONTH}/linked`, 'symbolic_link'],
    ]);
    assert.equal(itemIn(running.service.store, `${MONTH}/linked`), undefined);
  });
});
