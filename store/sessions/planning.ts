import { join } from 'node:path';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { editText, readText, type TextFile } from '../front-matter/text-file.ts';
import { type Approved, inForceOf, isGateShut } from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import { memoryDir, planningFile } from '../layout.ts';
import { assertOwn, changingItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { announce, itemOf } from '../reconcile/items.ts';
import { recordKind } from '../reconcile/sidecar-records.ts';
import { PLANNING_FILES, type PlanningFile, PlanningMatter } from '../records/planning.ts';
import type { Store } from '../store.ts';

const plannings = recordKind({ schema: PlanningMatter, path: planningFile, parts: () => ({}) });

/** The planning of a Work item as it is on disk this moment. */
export interface Planning {
  matter: PlanningMatter;
  /** The planning files that are there, in the order of their stages. */
  artifacts: TextFile[];
}

/** Undefined when there is no such Work item. Throws `unreadable_record` where planning.md cannot be read. */
export const readPlanning = (store: Store, caseId: string): Planning | undefined => {
  const item = itemOf(store, caseId);
  return item && planningOf(store, item);
};

export interface PlanningChange {
  file?: { filename: PlanningFile; content: string };
  /** Of planning.md. */
  changes?: PlanningMatter;
}

/** From the planning as it is to what is to be written; it may throw to refuse, and is asked again when a file moved. */
export type PlanningRule = (current: Planning) => PlanningChange;

/**
 * Runs a rule on the planning of a Work item in its turn, and writes what it wants: the file first, then what planning.md
 * says of it. Undefined when there is no such Work item. Throws `unreadable_record`.
 */
export const changePlanning = (
  store: Store,
  caseId: string,
  rule: PlanningRule,
): Promise<Planning | undefined> =>
  changingItem(store, caseId, async (item) => {
    let change = rule(planningOf(store, item));
    const { file } = change;
    if (file !== undefined)
      await editText(store.layout, placeOf(store, item, file.filename), () => {
        change = rule(planningOf(store, item));
        return change.file?.content ?? file.content;
      });
    await keepMatter(store, item, change.changes ?? {});
    announce(store, caseId);
    return planningOf(store, item);
  });

const placeOf = (store: Store, item: Item, filename: string) => ({
  dir: folderOf(store, item),
  filename,
  assertMeant: () => assertOwn(store, item),
});

const keepMatter = async (store: Store, item: Item, changes: PlanningMatter): Promise<void> => {
  if (Object.keys(changes).length === 0) return;
  const text = renderFrontMatter({ ...changes }, NOTE);
  await plannings.saveIn(store, item, () => ({ changes }), text);
  if (changes.approved !== undefined) holdApproved(store, item.id, changes.approved);
};

const NOTE = '\nWhat was generated for planning, and what of it the operator approved.\n';

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

/** Keeps that the operator approved these planning files of a Work item. On disk when it returns. */
export const grantPlanning = (store: Store, caseId: string, artifacts: Artifacts): void =>
  store.consent.grant([{ key: planningKey(caseId), value: artifacts }]);

/** Whether the operator approved just these on this machine. */
export const isPlanningGranted = (store: Store, caseId: string, artifacts: Artifacts): boolean =>
  store.consent.isGranted(planningKey(caseId), artifacts);

const planningKey = (caseId: string): string => `cases/${caseId}/planning`;

// What is approved, where the file says `found`.
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

// The operator approved it, or took that back, by way of the daemon: it holds.
const holdApproved = (store: Store, caseId: string, approved: Approved): void => {
  const gate = gateOf(store);
  if (!isGateShut(gate) && !gate.planning.has(caseId)) return;
  gate.planning.set(caseId, { holds: approved });
  saveGate(store);
};
