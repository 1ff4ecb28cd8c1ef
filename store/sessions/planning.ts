import { join } from 'node:path';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { editText, readText, type TextFile } from '../front-matter/text-file.ts';
import { type Approved, inForceOf, isGateShut } from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import { memoryDir, planningFile } from '../layout.ts';
import { assertItemAt, changeItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { itemOf, notifyItemChanged } from '../reconcile/items.ts';
import { sidecarRecords } from '../reconcile/sidecar-records.ts';
import { PLANNING_FILES, type PlanningFile, PlanningMatter } from '../records/planning.ts';
import type { Store } from '../store.ts';

const plannings = sidecarRecords({ schema: PlanningMatter, path: planningFile, parts: () => ({}) });

/** The planning of a Work item as it is on disk now. */
export interface Planning {
  matter: PlanningMatter;
  /** The existing planning files, in the order of the stages. */
  artifacts: TextFile[];
}

/** Undefined if there is no such Work item. Throws `unreadable_record` for an unreadable planning.md. */
export const readPlanning = (store: Store, caseId: string): Planning | undefined => {
  const item = itemOf(store, caseId);
  return item && planningOf(store, item);
};

export interface PlanningChange {
  file?: { filename: PlanningFile; content: string };
  /** Of planning.md. */
  changes?: PlanningMatter;
}

/** Computes the change of a planning, or throws to refuse it. Called again if a file changed meanwhile. */
type PlanningRule = (current: Planning) => PlanningChange;

/**
 * Applies a rule to the planning of a Work item under its lock: writes the file first, then planning.md. Undefined if there
 * is no such Work item. Throws `unreadable_record`.
 */
export const changePlanning = (
  store: Store,
  caseId: string,
  rule: PlanningRule,
): Promise<Planning | undefined> =>
  changeItem(store, caseId, async (item) => {
    let change = rule(planningOf(store, item));
    const { file } = change;
    if (file !== undefined)
      await editText(store.layout, placeOf(store, item, file.filename), () => {
        change = rule(planningOf(store, item));
        return change.file?.content ?? file.content;
      });
    await keepMatter(store, item, change.changes ?? {});
    notifyItemChanged(store, caseId);
    return planningOf(store, item);
  });

const placeOf = (store: Store, item: Item, filename: string) => ({
  dir: folderOf(store, item),
  filename,
  assertMeant: () => assertItemAt(store, item),
});

const keepMatter = async (store: Store, item: Item, changes: PlanningMatter): Promise<void> => {
  if (Object.keys(changes).length === 0) return;
  const text = renderFrontMatter({ ...changes }, NOTE);
  await plannings.saveIn(store, item, () => ({ changes }), text);
  if (changes.approved !== undefined) holdApproved(store, item.id, changes.approved);
};

const NOTE = '\nThe generated planning files, and the ones that the operator approved.\n';

const planningOf = (store: Store, item: Item): Planning => ({
  matter: matterOf(store, item),
  artifacts: PLANNING_FILES.flatMap(
    (filename) => readText(store.layout, folderOf(store, item), filename) ?? [],
  ),
});

const matterOf = (store: Store, item: Item): PlanningMatter => {
  const found = plannings.readIn(store, item)?.matter ?? {};
  return { ...found, ...approvedOf(store, item.id, found.approved) };
};

const folderOf = ({ layout }: Store, { dir }: Item): string => memoryDir(join(layout.root, dir));

type Artifacts = NonNullable<Approved>['artifacts'];

/** Records that the operator approved these planning files of a Work item. On disk when it returns. */
export const grantPlanning = (store: Store, caseId: string, artifacts: Artifacts): void =>
  store.consent.grant([{ key: planningKey(caseId), value: artifacts }]);

/** Whether the operator approved exactly these files on this machine. */
export const isPlanningGranted = (store: Store, caseId: string, artifacts: Artifacts): boolean =>
  store.consent.isGranted(planningKey(caseId), artifacts);

const planningKey = (caseId: string): string => `cases/${caseId}/planning`;

// The approval in force, if the file says `found`.
const approvedOf = (
  store: Store,
  caseId: string,
  found: Approved | undefined,
): Pick<PlanningMatter, 'approved'> => {
  const gate = gateOf(store);
  const part = gate.planning.get(caseId) ?? (isGateShut(gate) ? { holds: null } : undefined);
  const approved = inForceOf(gate, part, found ?? null);
  return approved === (found ?? null) ? {} : { approved };
};

// An approval or its withdrawal through the daemon is in force.
const holdApproved = (store: Store, caseId: string, approved: Approved): void => {
  const gate = gateOf(store);
  if (!isGateShut(gate) && !gate.planning.has(caseId)) return;
  gate.planning.set(caseId, { holds: approved });
  saveGate(store);
};
