import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../../store/check/check.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { layoutOf } from '../../../store/layout.ts';
import type { AttentionItem } from '../../../store/records/attention.ts';
import { eventually } from '../../helpers/eventually.ts';
import { openReceiver } from '../../helpers/receiver.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { type Running, startForTest } from '../../helpers/service.ts';
import { STATE_DIR } from '../../helpers/state-dir.ts';

const journalIn = (root: string): string => join(root, '.dossier/journal');

const newest = (root: string): string =>
  join(journalIn(root), readdirSync(journalIn(root)).toSorted().at(-1) ?? '');

interface Told {
  id: number;
  event: string;
  data: { payload: { case_id?: string; from?: number; to?: number; code?: string } };
}

const feed = async ({ call }: Running, after: number): Promise<Told[]> =>
  (await call<Told[]>('GET', `/events?after=${after}&limit=1000`)).body;

const lastOf = ({ service }: Running): number => service.store.journal.last;

/** Twice as many changes as there are Work items, and what the disk was like after the first of each. */
const withPast = async (t: TestContext) => {
  const running = await startForTest(t, {});
  const receiver = await openReceiver(t);
  const past = join(temporaryDirectory(t), 'past');
  await running.call('POST', '/webhooks', { url: receiver.url });
  const ids: string[] = [];
  for (const title of ['a', 'b', 'c']) {
    const { body } = await running.call('POST', '/cases', { title, type: 'bug' });
    ids.push(String(body.id));
  }
  await running.stop();
  const text = readFileSync(newest(running.workspace));
  cpSync(join(running.workspace, '.dossier'), past, { recursive: true });
  await running.restart();
  for (const id of ids) await running.call('PUT', `/cases/${id}`, { title: 'changed' });
  await receiver.atLeast(ids.length);
  const told = await feed(running, 0);
  const last = lastOf(running);
  return { running, receiver, ids, past, text, told, last };
};

type Past = Awaited<ReturnType<typeof withPast>>;

const WAYS: readonly [string, (past: Past) => void][] = [
  [
    'was cut at the end of a line',
    ({ running, text }) => writeFileSync(newest(running.workspace), text),
  ],
  [
    'was put back with all of .dossier from a backup',
    ({ running, past }) => {
      const path = join(running.workspace, '.dossier');
      rmSync(path, { recursive: true });
      cpSync(past, path, { recursive: true });
    },
  ],
  ['was removed', ({ running }) => rmSync(journalIn(running.workspace), { recursive: true })],
];

const ROLLED_BACK = 'journal_rolled_back';

describe('a journal that is older than what was told of it', () => {
  for (const [way, doIt] of WAYS) {
    it(`tells nothing again, and gives no number again, where it ${way}`, async (t) => {
      const past = await withPast(t);
      const { running, receiver, ids, last } = past;
      const before = receiver.received.length;
      await running.stop();
      doIt(past);
      await running.restart();
      const { body } = await running.call('PUT', `/cases/${ids[0]}`, { title: 'once more' });
      assert.equal(body.title, 'once more');
      await receiver.atLeast(before + 1);
      const since = (await feed(running, last)).filter(({ event }) => event !== 'gap');
      assert.deepEqual(
        since
          .filter(({ event }) => event === 'case_updated')
          .map(({ data }) => data.payload.case_id),
        [ids[0]],
      );
      assert.ok(since.every(({ id }) => id > last));
      const delivered = receiver.received.map(({ headers }) => headers['x-service-delivery']);
      const known = delivered.slice(0, before);
      const anew = delivered.slice(before).filter((id) => !known.includes(id));
      assert.equal(anew.length, 1, 'what is delivered again has the id that it had');
    });

    it(`is told once, as a problem, where it ${way}`, async (t) => {
      const past = await withPast(t);
      const { running, last } = past;
      await running.stop();
      doIt(past);
      await running.restart();
      const { body: problems } = await running.call<FileProblem[]>('GET', '/api/diagnostics');
      assert.deepEqual(
        problems.map(({ file, code }) => [file, code]),
        [['.dossier/journal', ROLLED_BACK]],
      );
      await eventually(async () => {
        const { body } = await running.call<AttentionItem[]>('GET', '/attention');
        assert.match(body.map(({ message }) => message).join(), /event \d+ was sent: it was cut/);
      });
      const told = (await feed(running, last)).filter(
        ({ data }) => data.payload.code === ROLLED_BACK,
      );
      assert.deepEqual(
        told.map(({ event }) => event),
        ['problem_found'],
      );
      await running.restart();
      assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
      const again = (await feed(running, told[0]?.id ?? 0)).map(({ event }) => event);
      assert.ok(!again.includes('problem_found'), again.join());
    });
  }

  it('answers a reader whose place is in the missing part with a gap', async (t) => {
    const past = await withPast(t);
    const { running, last } = past;
    await running.stop();
    writeFileSync(newest(running.workspace), past.text);
    await running.restart();
    await eventually(async () => {
      const [first] = await feed(running, last - 1);
      assert.equal(first?.event, 'gap');
      assert.equal(first.data.payload.from, last);
      assert.ok((first.data.payload.to ?? 0) >= last);
    });
  });

  it('is a warning of dossier check before the daemon starts', async (t) => {
    const past = await withPast(t);
    const { running } = past;
    await running.stop();
    const layout = layoutOf(running.workspace, STATE_DIR);
    const codes = async (): Promise<string[]> =>
      (await checkWorkspace(layout, async () => [])).findings.map(({ code }) => code);
    assert.ok(!(await codes()).includes(ROLLED_BACK));
    writeFileSync(newest(running.workspace), past.text);
    assert.ok((await codes()).includes(ROLLED_BACK));
    await running.restart();
    await running.stop();
    assert.ok(!(await codes()).includes(ROLLED_BACK));
  });

  it('is none where the workspace is a copy, or the state directory knows nothing of it', async (t) => {
    const past = await withPast(t);
    const { running } = past;
    await running.stop();
    const copy = join(temporaryDirectory(t), 'copy');
    cpSync(running.workspace, copy, { recursive: true });
    rmSync(join(copy, '.dossier'), { recursive: true });
    cpSync(past.past, join(copy, '.dossier'), { recursive: true });
    const other = await startForTest(t, { workspace: copy });
    assert.deepEqual((await other.call('GET', '/api/diagnostics')).body, []);
    const id = readFileSync(join(running.workspace, '.dossier/workspace'), 'utf8').trim();
    rmSync(join(STATE_DIR, 'workspaces', id), { recursive: true });
    await running.restart();
    assert.deepEqual((await running.call('GET', '/api/diagnostics')).body, []);
  });
});
