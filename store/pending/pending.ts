import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lockOn } from '../base/locks.ts';
import { type GatedPart, type HeldText, orderlessHash } from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import { grant } from '../reconcile/accept-change.ts';
import { type Granted, type HeldBack, waitsMessage } from '../reconcile/held-changes.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { reconcileInTurn } from '../reconcile/reconcile.ts';
import type { SessionMatter } from '../records/session.ts';
import { approvedIn, clearHeld, foundOf } from '../sessions/held-sessions.ts';
import { trustCommandFor } from '../settings/trust/waiting.ts';
import type { Store } from '../store.ts';

/** A change by file that waits for the operator. */
export interface WaitingChange {
  /** Of this change to this value: another value has another. */
  id: string;
  /** Of the value alone. */
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

/** Every change by file that waits, by Work item. */
export const waitingChanges = (store: Store): WaitingChange[] => {
  clearHeld(store);
  return [...allItems(store).flatMap(waitingOf), ...waitingKept(store)];
};

/** Those of sessions and planning, as they were last looked at. */
export const waitingKept = (store: Store): WaitingChange[] => [
  ...[...gateOf(store).sessions.keys()].flatMap((key) => ofSession(store, key)),
  ...[...gateOf(store).planning].flatMap(([id, part]) => ofPlanning(store, id, part)),
];

/** Sees what of sessions and planning waits, and tells it as problems; what waits of a Work item is told by the item. */
export const lookAtWaiting = (store: Store): void => {
  clearHeld(store);
  const problems = waitingKept(store).map(({ file, field }) => ({
    file,
    code: 'held',
    message: waitsMessage(field, trustCommandFor(store.layout)),
  }));
  store.problems.set('waiting', problems);
};

type OneWaiting = HeldBack['waiting'][number];

/** Those of a Work item's own files. */
export const waitingOf = ({ id, dir, held }: Item): WaitingChange[] =>
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

const kindOf = ({ key }: OneWaiting): WaitingChange['kind'] =>
  key === 'state' || key === 'checklist' ? key : 'verification';

const idOf = (caseId: string, key: string, sha: string): string =>
  `${caseId}/${key}@${sha.slice(0, 16)}`;

const TEXTS: readonly HeldText[] = ['plan', 'comments'];

const ofSession = (store: Store, key: string): WaitingChange[] => {
  const kept = gateOf(store).sessions.get(key);
  const found = kept && foundOf(store, kept.case_id, key);
  if (kept === undefined || found === undefined) return [];
  const { case_id, matter } = kept;
  const dir = relative(store.layout.root, found.dir);
  const changed = differences(matter.holds, found.matter);
  const place = { case_id, file: `${dir}/session.md`, field: Object.keys(changed.to).join(', ') };
  const texts = TEXTS.flatMap((name) => {
    const part = kept[name];
    if (part === undefined) return [];
    const text = { case_id, file: `${dir}/${name}.md`, from: part.holds, to: found[name] };
    return told({ kind: name, field: name, ...text }, `sessions/${key}/${name}`, part);
  });
  return [...told({ kind: 'session', ...place, ...changed }, `sessions/${key}`, matter), ...texts];
};

const differences = (holds: SessionMatter, found: SessionMatter) => {
  const [before, now] = [new Map(Object.entries(holds)), new Map(Object.entries(found))];
  const keys = [...new Set([...before.keys(), ...now.keys()])].filter(
    (key) => !isDeepStrictEqual(before.get(key), now.get(key)),
  );
  const of = (map: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(keys.map((key) => [key, map.get(key) ?? null]));
  return { from: of(before), to: of(now) };
};

const told = (
  change: Omit<WaitingChange, 'id' | 'sha' | 'since'>,
  key: string,
  { waits }: GatedPart<unknown>,
): WaitingChange[] =>
  waits === undefined ? [] : [{ id: idOf(change.case_id, key, waits.sha), ...change, ...waits }];

const ofPlanning = (store: Store, case_id: string, part: GatedPart<unknown>): WaitingChange[] => {
  const dir = itemOf(store, case_id)?.dir ?? '';
  const to = approvedIn(store, case_id);
  const place = { case_id, file: `${dir}/planning.md`, field: 'approved' };
  return told({ kind: 'planning', ...place, from: part.holds, to }, 'planning', part);
};

/**
 * The operator takes changes that wait, by their ids: they hold as if they were made now, with their events. Answers
 * those that were still as they were when the operator saw them.
 */
export const acceptWaiting = async (
  store: Store,
  ids: ReadonlySet<string>,
): Promise<WaitingChange[]> => {
  const wanted = waitingChanges(store).filter(({ id }) => ids.has(id));
  const taken = new Set<string>();
  for (const { id, kind, case_id } of wanted)
    if (kind === 'planning' ? acceptPlanning(store, case_id, id) : acceptSession(store, id))
      taken.add(id);
  saveGate(store);
  for (const id of new Set(wanted.map(({ case_id }) => case_id)))
    await store.locks.take(lockOn.item(id), () => acceptItem(store, id, { ids, taken }));
  lookAtWaiting(store);
  return wanted.filter(({ id }) => taken.has(id));
};

const acceptSession = (store: Store, id: string): boolean => {
  for (const [key, kept] of gateOf(store).sessions) {
    const found = foundOf(store, kept.case_id, key);
    const isMatter = id === idOf(kept.case_id, `sessions/${key}`, orderlessHash(found?.matter));
    const text = TEXTS.find(
      (name) => id === idOf(kept.case_id, `sessions/${key}/${name}`, orderlessHash(found?.[name])),
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
  const isSame = id === idOf(caseId, 'planning', orderlessHash(found));
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
  await reconcileInTurn(store, item);
  const meant = (item.held?.waiting ?? []).filter(({ key, sha }) => ids.has(idOf(id, key, sha)));
  for (const one of meant) {
    taken.add(idOf(id, one.key, one.sha));
    grant(store, item, grantOf(item, one));
  }
  if (meant.length > 0) await reconcileInTurn(store, item);
};

const grantOf = ({ files }: Item, { key, to }: OneWaiting): Granted => {
  if (key === 'state') return { standing: to as NonNullable<Granted['standing']> };
  if (key === 'checklist') return { checklist: to as NonNullable<Granted['checklist']> };
  const value = files.proofs.get(key.slice('proof/'.length))?.value;
  return value === undefined ? {} : { proofs: { [value.matter.id]: value.matter } };
};
