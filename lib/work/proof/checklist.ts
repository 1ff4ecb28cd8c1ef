import { changedSince } from '../../../store/base/errors.ts';
import { etagOf, meets } from '../../../store/base/names.ts';
import { newId } from '../../../store/base/new-id.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { jsonText } from '../../../store/base/visible.ts';
import {
  dropFromChecklist,
  appendToChecklist as keepEntry,
  tickTask,
  waiveInChecklist,
} from '../../../store/cases/checklist.ts';
import type { MatterChanges } from '../../../store/front-matter/splice.ts';
import {
  caseOf,
  caseStateOf,
  checklistOf,
  evidenceOf,
  type Item,
  proofGateOf,
  proofsOf,
} from '../../../store/reconcile/item.ts';
import { isSatisfied } from '../../../store/reconcile/proof-gate.ts';
import type { ChecklistEntry, ChecklistItem, Gate, Waiver } from '../../../store/records/proof.ts';
import type { Store } from '../../../store/store.ts';
import { describeWork } from '../../code/worktrees/inspect/diff.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { invalidState, notFound, orNotFound } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { moveTo } from '../cases/moves.ts';
import { checkCommand, checkTexts } from '../cases/text.ts';
import { getItemWithProofs, newestWorkSession } from './attach.ts';
import type { Which } from './change.ts';

export const addToChecklist = async (
  store: Store,
  caseId: string,
  wanted: Omit<ChecklistEntry, 'id'>,
): Promise<ChecklistItem> => {
  checkTexts({ description: wanted.description });
  // A command that no check runs could never be proven.
  if (wanted.command !== undefined) checkCommand(wanted.command);
  const entry = { id: newId(), ...wanted };
  const item = orNotFound(await keepEntry(store, caseId, entry), 'Work item', caseId);
  return servedOf(entry, item);
};

const servedOf = (entry: ChecklistEntry, item: Item): ChecklistItem => ({
  ...entry,
  task: entry.done !== undefined,
  done: entry.done === true,
  satisfied: isSatisfied(entry, evidenceOf(item)),
});

/**
 * Ticks or unticks a task line of the checklist. Throws `invalid_state` for an item of the front matter, which needs a
 * proof.
 */
export const tickChecklist = async (
  store: Store,
  { caseId, id, ifMatch }: Which,
  done: boolean,
): Promise<ChecklistItem> => {
  const look = unlessChanged(ifMatch);
  const kept = orNotFound(await tickTask(store, caseId, { id, done, look }), 'Work item', caseId);
  const entry = servedIn(kept.item, id);
  if (kept.isThere) return entry;
  throw invalidState(
    `Only task lines can be ticked. This item needs a verified proof of the type ${entry.type}: attach and verify one.`,
  );
};

const servedIn = (item: Item, id: string): ChecklistItem => {
  const entry = checklistOf(item).find((one) => one.id === id);
  return servedOf(orNotFound(entry, 'checklist item', id), item);
};

/**
 * Waives an item with a name and a reason: it is shown as waived and the gate no longer requires it. A second waiver
 * changes nothing.
 */
export const waiveChecklist = async (
  store: Store,
  { caseId, id, ifMatch }: Which,
  { by, reason }: Pick<Waiver, 'by' | 'reason'>,
): Promise<ChecklistItem> => {
  checkTexts({ by, reason });
  const waiver = { item: id, by, reason, at: store.clock().toISOString() };
  const look = unlessChanged(ifMatch);
  const kept = orNotFound(
    await waiveInChecklist(store, caseId, { waiver, look }),
    'Work item',
    caseId,
  );
  return servedIn(kept.item, id);
};

/** Removes an item from the checklist. Throws 404, and 412 where the list has changed. */
export const removeFromChecklist = async (
  store: Store,
  { caseId, id, ifMatch }: Which,
): Promise<void> => {
  const what = { id, look: unlessChanged(ifMatch) };
  if (orNotFound(await dropFromChecklist(store, caseId, what), 'Work item', caseId)) return;
  throw notFound('checklist item', id);
};

export const listChecklist = async (store: Store, caseId: string): Promise<ChecklistItem[]> =>
  listed(await getItemWithProofs(store, caseId));

const listed = (item: Item): ChecklistItem[] =>
  checklistOf(item).map((entry) => servedOf(entry, item));

/** Throws 412 where the list does not match the ETag, which covers the whole answer. */
const unlessChanged = (ifMatch: string | undefined) => (item: Item) => {
  if (ifMatch !== undefined && !meets(ifMatch, etagOf(sha256(jsonText(listed(item))))))
    throw changedSince('The checklist');
};

export const getGate = async (service: GitNeeds & WithLog, caseId: string): Promise<Gate> => {
  const item = await getItemWithProofs(service.store, caseId);
  const verified = evidenceOf(item).filter((proof) => proof.verified);
  const tree = verified.some((proof) => proof.tree !== null);
  const diff = verified.some((proof) => proof.tree === null && proof.diff_sha256 !== null);
  const gate = proofGateOf(item, await describeWork(service, caseId, { diff, tree }));
  const commands = newestWorkSession(service.store, caseId)?.commands;
  const isFailed = commands !== undefined && commands.failed_count > 0;
  return { ...gate, ...(isFailed && { failed_commands: commands }) };
};

/**
 * A follow-up of the records of a Work item, however they were written: VERIFYING becomes RESOLVED once the gate is
 * satisfied, by a decision that the operator made while it is VERIFYING.
 */
export const followUp = (item: Item): MatterChanges | undefined => {
  if (caseStateOf(item) !== 'VERIFYING' || !proofGateOf(item).satisfied) return undefined;
  if (item.seen?.decided !== undefined) return undefined;
  // A proof written by hand is completed and reported before anything follows from it.
  if (proofsOf(item).some(({ file }) => file.adopt !== undefined)) return undefined;
  const { outcome = null } = caseOf(item).matter;
  return { ...moveTo({ state: 'VERIFYING', outcome }, 'RESOLVED') };
};
