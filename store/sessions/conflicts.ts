import { join } from 'node:path';
import { inSlices } from '../base/async.ts';
import { orElse } from '../base/attempt.ts';
import { timedName } from '../base/names.ts';
import { isSealed, sealOf } from '../consent/seal.ts';
import { logLine, withLogLine } from '../front-matter/body.ts';
import { recordNames } from '../front-matter/folder.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { conflictsDir, type Layout } from '../layout.ts';
import { changeItem } from '../reconcile/change-item.ts';
import { allItems } from '../reconcile/items.ts';
import { type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { ConflictMatter } from '../records/conflict.ts';
import type { Store } from '../store.ts';

/** `log` has one line for each step. */
export type StoredConflict = StoredRecord<ConflictMatter, { log: string }>;

const conflicts = sidecarRecords({
  schema: ConflictMatter,
  path: conflictsDir,
  parts: ({ body }) => ({ log: body.trim() }),
});

/**
 * The rebases of a Work item, oldest first; undefined if there is no such Work item. Throws `unreadable_record` if any
 * record is unreadable, since it may be the rebase in progress.
 */
export const listConflicts = (store: Store, caseId: string): StoredConflict[] | undefined =>
  conflicts.list(store, caseId)?.sort((a, b) => a.matter.began_at.localeCompare(b.matter.began_at));

/** The rebase in progress on this machine; there is at most one. */
export const openConflict = (store: Store, caseId: string): StoredConflict | undefined =>
  listConflicts(store, caseId)?.find((kept) => isOpenHere(store, kept));

export const isOpenHere = (store: Store, kept: OfItem): boolean =>
  kept.matter.outcome === null && isOurs(store, kept);

type OfItem = Pick<StoredConflict, 'case_id' | 'matter'>;

/** Whether this machine wrote the record as it is. One that git brought, or that was edited, is shown and not acted upon. */
export const isOurs = ({ layout }: Store, { case_id, matter }: OfItem): boolean =>
  isSealed(layout, placeOf(layout, matter), { seal: matter.seal, record: said(case_id, matter) });

const sealIn = ({ layout }: Store, case_id: string, matter: ConflictMatter): string | undefined =>
  sealOf(layout, placeOf(layout, matter), said(case_id, matter));

const placeOf = ({ dossier }: Layout, { id }: ConflictMatter): string =>
  join(dossier, 'conflicts', id);

const said = (case_id: string, matter: ConflictMatter): object => {
  const fields = Object.keys(ConflictMatter.properties) as (keyof ConflictMatter)[];
  const values = fields.filter((name) => name !== 'seal').map((name) => [name, matter[name]]);
  return { case_id, ...Object.fromEntries(values) };
};

/** All readable rebases of the workspace. Yields to requests every few milliseconds. */
export const allConflicts = async (store: Store): Promise<StoredConflict[]> => {
  const found: (StoredConflict | undefined)[] = [];
  await inSlices(allItems(store), (item) => {
    for (const name of recordNames(conflicts.at(store, item).path))
      found.push(orElse(() => conflicts.readIn(store, item, name), undefined));
  });
  return found.filter((one) => one !== undefined);
};

/** Creates the record of a rebase. It is on disk before the rebase begins. */
export const createConflict = (
  store: Store,
  caseId: string,
  { matter, line }: { matter: ConflictMatter; line: string },
): Promise<StoredConflict | undefined> =>
  changeItem(store, caseId, async (item) => {
    const name = timedName(matter.began_at, matter.id);
    const seal = sealIn(store, caseId, matter);
    const text = renderFrontMatter({ ...matter, seal }, `\n${logLine(matter.began_at, line)}\n`);
    await conflicts.createIn(store, item, text, name);
    return conflicts.readIn(store, item, name);
  });

export interface ConflictChange extends Partial<Omit<ConflictMatter, 'id' | 'began_at'>> {
  /** A sentence for the log. */
  line?: string;
}

/** Changes the record of a rebase and adds a line to its log; undefined if the record is gone. */
export const changeConflict = (
  store: Store,
  { case_id, matter: { id } }: StoredConflict,
  { line, ...changes }: ConflictChange,
): Promise<StoredConflict | undefined> =>
  changeItem(store, case_id, async () => {
    const kept = listConflicts(store, case_id)?.find(({ matter }) => matter.id === id);
    if (kept === undefined) return undefined;
    await conflicts.editAt(store, kept, ({ source, read }) => ({
      changes: sealed(store, read(), changes),
      ...(line !== undefined && { body: withLogLine(source, logLine(now(store), line)) }),
    }));
    return conflicts.keptAt(store, kept);
  });

// A change does not seal a record that this machine did not write.
const sealed = (
  store: Store,
  kept: StoredConflict,
  changes: Partial<ConflictMatter>,
): Partial<ConflictMatter> =>
  isOurs(store, kept)
    ? { ...changes, seal: sealIn(store, kept.case_id, { ...kept.matter, ...changes }) }
    : changes;

const now = ({ clock }: Store): string => clock().toISOString();
