import { inSlices } from '../base/async.ts';
import { orElse } from '../base/attempt.ts';
import { timedName } from '../base/names.ts';
import { logLine, withLogLine } from '../front-matter/body.ts';
import { recordNames } from '../front-matter/folder.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { conflictsDir } from '../layout.ts';
import { changingItem } from '../reconcile/changing.ts';
import { allItems } from '../reconcile/items.ts';
import { type Kept, recordKind } from '../reconcile/record-kind.ts';
import { ConflictMatter } from '../records/conflict.ts';
import type { Store } from '../store.ts';

/** `log` is what happened, a line each. */
export type StoredConflict = Kept<ConflictMatter, { log: string }>;

const conflicts = recordKind({
  schema: ConflictMatter,
  path: conflictsDir,
  parts: ({ body }) => ({ log: body.trim() }),
});

/**
 * The rebases of a Work item, oldest first. Undefined when there is no such Work item. Throws `unreadable_record` for
 * one that cannot be read: whether a rebase is under way must not be guessed.
 */
export const listConflicts = (store: Store, caseId: string): StoredConflict[] | undefined =>
  conflicts.list(store, caseId)?.sort((a, b) => a.matter.began_at.localeCompare(b.matter.began_at));

/** The rebase of this machine that has not ended. There is one at most. */
export const openConflict = (store: Store, caseId: string): StoredConflict | undefined =>
  listConflicts(store, caseId)?.find(({ matter }) => isOpenHere(store, matter));

export const isOpenHere = ({ machine }: Store, matter: ConflictMatter): boolean =>
  matter.outcome === null && matter.machine === machine;

/** All rebases of the workspace that can be read. It gives way to requests every few milliseconds. */
export const allConflicts = async (store: Store): Promise<StoredConflict[]> => {
  const found: (StoredConflict | undefined)[] = [];
  await inSlices(allItems(store), (item) => {
    for (const name of recordNames(conflicts.at(store, item).path))
      found.push(orElse(() => conflicts.readIn(store, item, name), undefined));
  });
  return found.filter((one) => one !== undefined);
};

/** Makes the record of a rebase that begins: it is on disk before anything else is touched. */
export const createConflict = (
  store: Store,
  caseId: string,
  { matter, line }: { matter: ConflictMatter; line: string },
): Promise<StoredConflict | undefined> =>
  changingItem(store, caseId, async (item) => {
    const name = timedName(matter.began_at, matter.id);
    const text = renderFrontMatter({ ...matter }, `\n${logLine(matter.began_at, line)}\n`);
    await conflicts.createIn(store, item, text, name);
    return conflicts.readIn(store, item, name);
  });

export interface ConflictChange extends Partial<Omit<ConflictMatter, 'id' | 'began_at'>> {
  /** What happened, as a sentence for the log. */
  line?: string;
}

/** Changes the record of a rebase and adds a line to its log. Undefined when it is gone. */
export const changeConflict = (
  store: Store,
  { case_id, matter: { id } }: StoredConflict,
  { line, ...changes }: ConflictChange,
): Promise<StoredConflict | undefined> =>
  changingItem(store, case_id, async () => {
    const kept = listConflicts(store, case_id)?.find(({ matter }) => matter.id === id);
    if (kept === undefined) return undefined;
    await conflicts.editAt(store, kept, ({ source }) => ({
      changes,
      ...(line !== undefined && { body: withLogLine(source, logLine(now(store), line)) }),
    }));
    return conflicts.keptAt(store, kept);
  });

const now = ({ clock }: Store): string => clock().toISOString();
