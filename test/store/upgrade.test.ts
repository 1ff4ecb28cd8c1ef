import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { encode, readJournalLines } from '../../store/journal/journal-lines.ts';
import { checkSidecars } from '../../store/problems/sidecar-problems.ts';
import type { EventBody, EventRecord, EventType } from '../../store/records/event.ts';
import { PROJECT } from '../examples/run.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { startForTest } from '../helpers/service.ts';

const KEPT = join(PROJECT, 'test/store/kept-workspaces');

/** Workspaces with the journal of the commit that they are named after. */
const COMMITS = readdirSync(KEPT).filter((name) => name.startsWith('commit-'));

const keptOf = (t: TestContext, name: string): string => {
  const root = temporaryDirectory(t);
  cpSync(join(KEPT, name), root, { recursive: true });
  renameSync(join(root, 'dossier'), join(root, '.dossier'));
  // Soon after its last event: a week later, those that no receiver has got are given up.
  const at = eventsOf(root).at(-1)?.body.timestamp ?? '';
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(at) + 1000 });
  return root;
};

interface Line {
  seen?: { id: string; state: Record<string, unknown> | null };
  told?: unknown;
  gone?: unknown;
  epoch?: string;
  events?: EventRecord[];
}

const journalOf = (root: string): string => {
  const dir = join(root, '.dossier/journal');
  return join(dir, readdirSync(dir).toSorted().at(-1) ?? '');
};

const linesOf = (path: string): Line[] => {
  const lines: Line[] = [];
  readJournalLines(path, (json = '{}') => lines.push(JSON.parse(json) as Line));
  return lines;
};

const eventsOf = (root: string): EventRecord[] =>
  linesOf(journalOf(root)).flatMap(({ events = [] }) => events);

const lastOf = (root: string): number => eventsOf(root).at(-1)?.seq ?? 0;

/** Sessions and settings of before have to be confirmed on this machine: what needs the operator is another. */
const OF_TRUST = new Set<EventType>(['attention_changed']);

/** The events of one life of the daemon, from its start until it has looked at everything. */
const toldIn = async (
  t: TestContext,
  root: string,
  work: (root: string) => void = () => undefined,
): Promise<EventBody[]> => {
  const before = lastOf(root);
  work(root);
  const life = await startForTest(t, { workspace: root, watch: true });
  await checkSidecars(life.service.store);
  await life.stop();
  return eventsOf(root)
    .filter(({ seq, body }) => seq > before && !OF_TRUST.has(body.event_type))
    .map(({ body }) => body);
};

/**
 * What commit 6d954d7 makes of a journal: it knows no checklists and no forms. Where it compacts, it keeps no other kinds of
 * lines than its own.
 */
const asOldest = (root: string, compacted: boolean): void => {
  const path = journalOf(root);
  const lines = linesOf(path).map(({ seen, told, gone, epoch, ...line }) => ({
    ...line,
    ...(seen && { seen: { id: seen.id, state: seen.state && asOldestSaw(seen.state) } }),
    ...(!compacted && { told, gone, epoch }),
  }));
  writeFileSync(path, encode(lines.map((line) => JSON.stringify(line))));
};

const asOldestSaw = ({ dir, case: file, proofs }: Record<string, unknown>) => ({
  ...{ dir, case: file, proofs },
});

const edit = (root: string, title: string, change: (dir: string) => void): void => {
  const line = linesOf(journalOf(root)).find(({ seen }) =>
    JSON.stringify(seen?.state?.case ?? '').includes(title),
  );
  assert.ok(line?.seen?.state, title);
  change(join(root, String(line.seen.state.dir)));
};

const replaceIn = (path: string, from: string, to: string): void => {
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), text);
  writeFileSync(path, text.replace(from, to));
};

const changeAll = (root: string): void => {
  edit(root, 'Is OPEN', (dir) => replaceIn(join(dir, 'case.md'), 'state: OPEN', 'state: BLOCKED'));
  edit(root, 'Is BLOCKED', (dir) => replaceIn(join(dir, 'case.md'), 'A text', 'Another'));
  edit(root, 'Is RESOLVED', (dir) => rmSync(dir, { recursive: true }));
  edit(root, 'Has a checklist', (dir) =>
    replaceIn(join(dir, 'proof/checklist.md'), 'There is', 'There has to be'),
  );
};

const CHANGES = ['case_deleted', 'case_state_changed', 'case_updated'];

describe('an upgrade', () => {
  for (const name of COMMITS) {
    it(`tells what was changed before its start: ${name}`, async (t) => {
      const told = await toldIn(t, keptOf(t, name), changeAll);
      // The oldest did not know what was on a checklist.
      const more = name.endsWith('6d954d7') ? [] : ['checklist_updated'];
      const types = told.map(({ event_type }) => event_type);
      assert.deepEqual(types.toSorted(), [...CHANGES, ...more].toSorted());
    });

    it(`tells nothing that did not happen: ${name}`, async (t) => {
      const root = keptOf(t, name);
      assert.deepEqual(await toldIn(t, root), [], 'at the first start');
      assert.deepEqual(await toldIn(t, root), [], 'at the second start');
    });

    for (const compacted of [false, true])
      it(`tells nothing after an older release was at work meanwhile: ${name}${compacted ? ', which compacted the journal' : ''}`, async (t) => {
        const root = keptOf(t, name);
        assert.deepEqual(await toldIn(t, root), []);
        asOldest(root, compacted);
        assert.deepEqual(await toldIn(t, root), []);
      });
  }
});
