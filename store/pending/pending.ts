import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lockOn } from '../base/locks.ts';
import { trustCommandFor } from '../base/text.ts';
import { trustHash } from '../consent/seal.ts';
import type { GatedPart, HeldText } from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import { acceptChange } from '../reconcile/accept-change.ts';
import {
  type AcceptedValues,
  type HeldChanges,
  heldValueMessage,
} from '../reconcile/held-changes.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf, notifyItemChanged } from '../reconcile/items.ts';
import { reconcileLocked } from '../reconcile/reconcile.ts';
import type { SessionMatter } from '../records/session.ts';
import { approvedIn, readHeldSession, settleHeld } from '../sessions/held-sessions.ts';
import type { Store } from '../store.ts';

/** A change by file that is held until the operator confirms it. */
export interface PendingChange {
  /** Identifies the change and its value: another value has another id. */
  id: string;
  /** Hash of the value. */
  sha: string;
  kind: 'state' | 'checklist' | 'verification' | 'planning' | 'session' | 'plan' | 'comments';
  case_id: string;
  /** Relative to the workspace. */
  file: string;
  field: string;
  from: unknown;
  to: unknown;
  since: string;
}

/** All held changes: those of Work items, then those of sessions and planning. */
export const pendingChanges = (store: Store): PendingChange[] => {
  settleHeld(store);
  return [...allItems(store).flatMap(pendingOfItem), ...pendingSessionChanges(store)];
};

/** The held changes of sessions and planning, as last read. */
export const pendingSessionChanges = (store: Store): PendingChange[] => [
  ...[...gateOf(store).sessions.keys()].flatMap((key) => changesOfSession(store, key)),
  ...[...gateOf(store).planning].flatMap(([id, part]) => changesOfPlanning(store, id, part)),
];

/** Reads the held changes of sessions and planning again, and reports them as problems. Work items report their own. */
export const refreshPending = (store: Store): void => {
  settleHeld(store);
  const problems = pendingSessionChanges(store).map(({ file, field }) => ({
    file,
    code: 'held',
    message: heldValueMessage(field, trustCommandFor(store.layout)),
  }));
  store.problems.set('waiting', problems);
};

type HeldItemValue = HeldChanges['waiting'][number];

/** The held changes of a Work item's own files. */
export const pendingOfItem = ({ id, dir, held }: Item): PendingChange[] =>
  (held?.waiting ?? []).map((one) => ({
    id: idOf(id, one.key, one.sha),
    sha: one.sha,
    kind: kindOf(one),
    case_id: id,
    file: `${dir}/${one.file}`,
    field: one.field,
    from: one.from,
    to: one.to,
    since: one.since,
  }));

const kindOf = ({ key }: HeldItemValue): PendingChange['kind'] =>
  key === 'state' || key === 'checklist' ? key : 'verification';

const idOf = (caseId: string, key: string, sha: string): string =>
  `${caseId}/${key}@${sha.slice(0, 16)}`;

const TEXTS: readonly HeldText[] = ['plan', 'comments'];

const changesOfSession = (store: Store, key: string): PendingChange[] => {
  const kept = gateOf(store).sessions.get(key);
  const found = kept && readHeldSession(store, kept.case_id, key);
  if (kept === undefined || found === undefined) return [];
  const { case_id, matter } = kept;
  const dir = relative(store.layout.root, found.dir);
  const changed = changedFields(matter.holds, found.matter);
  const place = { case_id, file: `${dir}/session.md`, field: Object.keys(changed.to).join(', ') };
  const texts = TEXTS.flatMap((name) => {
    const part = kept[name];
    if (part === undefined) return [];
    const text = { case_id, file: `${dir}/${name}.md`, from: part.holds, to: found[name] };
    return changeIfHeld({ kind: name, field: name, ...text }, `sessions/${key}/${name}`, part);
  });
  return [
    ...changeIfHeld({ kind: 'session', ...place, ...changed }, `sessions/${key}`, matter),
    ...texts,
  ];
};

const changedFields = (holds: SessionMatter, found: SessionMatter) => {
  const [before, now] = [new Map(Object.entries(holds)), new Map(Object.entries(found))];
  const keys = [...new Set([...before.keys(), ...now.keys()])].filter(
    (key) => !isDeepStrictEqual(before.get(key), now.get(key)),
  );
  const of = (map: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(keys.map((key) => [key, map.get(key) ?? null]));
  return { from: of(before), to: of(now) };
};

const changeIfHeld = (
  change: Omit<PendingChange, 'id' | 'sha' | 'since'>,
  key: string,
  { waits }: GatedPart<unknown>,
): PendingChange[] =>
  waits === undefined ? [] : [{ id: idOf(change.case_id, key, waits.sha), ...change, ...waits }];

const changesOfPlanning = (
  store: Store,
  case_id: string,
  part: GatedPart<unknown>,
): PendingChange[] => {
  const dir = itemOf(store, case_id)?.dir ?? '';
  const to = approvedIn(store, case_id);
  const place = { case_id, file: `${dir}/planning.md`, field: 'approved' };
  return changeIfHeld({ kind: 'planning', ...place, from: part.holds, to }, 'planning', part);
};

/**
 * Accepts held changes by their ids, as if they were made now, with their events. Returns those that did not change since
 * the operator saw them.
 */
export const acceptPending = async (
  store: Store,
  ids: ReadonlySet<string>,
): Promise<PendingChange[]> => {
  const wanted = pendingChanges(store).filter(({ id }) => ids.has(id));
  const taken = new Set<string>();
  for (const { id, kind, case_id } of wanted)
    if (kind === 'planning' ? acceptPlanning(store, case_id, id) : acceptSession(store, id))
      taken.add(id);
  saveGate(store);
  for (const id of new Set(wanted.map(({ case_id }) => case_id)))
    await store.locks.take(lockOn.item(id), () => acceptItem(store, id, { ids, taken }));
  refreshPending(store);
  // What follows from the record of a session is done for its Work item.
  for (const { kind, case_id } of wanted) if (kind === 'session') notifyItemChanged(store, case_id);
  return wanted.filter(({ id }) => taken.has(id));
};

const acceptSession = (store: Store, id: string): boolean => {
  for (const [key, kept] of gateOf(store).sessions) {
    const found = readHeldSession(store, kept.case_id, key);
    const isMatter = id === idOf(kept.case_id, `sessions/${key}`, trustHash(found?.matter));
    const text = TEXTS.find(
      (name) => id === idOf(kept.case_id, `sessions/${key}/${name}`, trustHash(found?.[name])),
    );
    if (found === undefined || !(isMatter || text !== undefined)) continue;
    if (isMatter) kept.matter = { holds: found.matter };
    if (text !== undefined) kept[text] = { holds: found[text] };
    return true;
  }
  return false;
};

const acceptPlanning = (store: Store, caseId: string, id: string): boolean => {
  const found = approvedIn(store, caseId);
  const isSame = id === idOf(caseId, 'planning', trustHash(found));
  if (isSame) gateOf(store).planning.set(caseId, { holds: found });
  return isSame;
};

const acceptItem = async (
  store: Store,
  id: string,
  { ids, taken }: { ids: ReadonlySet<string>; taken: Set<string> },
): Promise<void> => {
  const item = itemOf(store, id);
  if (item === undefined) return;
  await reconcileLocked(store, item);
  const meant = (item.held?.waiting ?? []).filter(({ key, sha }) => ids.has(idOf(id, key, sha)));
  for (const one of meant) {
    taken.add(idOf(id, one.key, one.sha));
    acceptChange(store, item, grantOf(item, one));
  }
  if (meant.length > 0) await reconcileLocked(store, item);
};

const grantOf = ({ files }: Item, { key, to }: HeldItemValue): AcceptedValues => {
  if (key === 'state') return { decided: to as NonNullable<AcceptedValues['decided']> };
  if (key === 'checklist') return { checklist: to as NonNullable<AcceptedValues['checklist']> };
  const value = files.proofs.get(key.slice('proof/'.length))?.value;
  return value === undefined ? {} : { proofs: { [value.matter.id]: value.matter } };
};
