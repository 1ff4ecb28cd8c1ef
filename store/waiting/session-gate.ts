import { sha256 } from '../../base/sha256.ts';
import { inForceOf, isGateShut, type KeptParts, orderlessHash, written } from '../gate/gate.ts';
import { gateOf, saveGate } from '../gate/gate-files.ts';
import { shortId } from '../names.ts';
import type { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import type { TextFile } from '../text/text-file.ts';
import { foundOf, guardedOf, sessionKey } from './kept.ts';

/** What holds of the session in `dir`, whose file says `found`. */
export const heldMatter = (store: Store, dir: string, found: SessionMatter): SessionMatter => {
  const gate = gateOf(store);
  const kept = gate.sessions.get(sessionKey(dir));
  if (kept === undefined) return found;
  const guarded = guardedOf(found);
  const holds = inForceOf(gate, kept.matter, guarded);
  return holds === guarded ? found : holds;
};

/** The plan that holds in a session whose plan.md is `found`. */
export const heldPlan = (
  store: Store,
  dir: string,
  found: TextFile | undefined,
): TextFile | undefined => {
  const gate = gateOf(store);
  const kept = gate.sessions.get(sessionKey(dir));
  if (kept === undefined) return found;
  const content = found?.content ?? null;
  const holds = inForceOf(gate, kept.plan, content);
  if (holds === content) return found;
  if (holds === null) return undefined;
  return {
    filename: 'plan.md',
    content: holds,
    size: Buffer.byteLength(holds),
    sha256: sha256(holds),
  };
};

/** The daemon is about to write this of a session: should it die before `noteMatter`, it holds all the same. */
export const intendMatter = (store: Store, matter: SessionMatter): void => {
  const key = shortId(matter.id);
  const kept = gateOf(store).sessions.get(key);
  if (kept === undefined) return;
  const next = orderlessHash(guardedOf(matter));
  keep(store, key, { ...kept, matter: { ...kept.matter, next } });
};

/** The daemon wrote this of a session: it holds. */
export const noteMatter = (store: Store, caseId: string, matter: SessionMatter): void => {
  const key = shortId(matter.id);
  const gate = gateOf(store);
  const known = gate.sessions.get(key);
  if (known === undefined && !isGateShut(gate)) return;
  const holds = guardedOf(matter);
  const { id } = matter;
  const kept = known ?? { id, case_id: caseId, matter: { holds }, plan: { holds: null } };
  const found = foundOf(store, caseId, key)?.matter ?? holds;
  keep(store, key, {
    ...kept,
    matter: written(gate, kept.matter, { holds, found }, store.clock()),
  });
};

/** The same of its plan, which is about to be written. */
export const intendPlan = (store: Store, dir: string, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept === undefined) return;
  keep(store, sessionKey(dir), { ...kept, plan: { ...kept.plan, next: orderlessHash(content) } });
};

/** The daemon wrote its plan: it holds. */
export const notePlan = (store: Store, dir: string, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept !== undefined) keep(store, sessionKey(dir), { ...kept, plan: { holds: content } });
};

const keep = (store: Store, key: string, kept: KeptParts): void => {
  gateOf(store).sessions.set(key, kept);
  saveGate(store);
};
