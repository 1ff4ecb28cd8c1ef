import { shortId } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import type { TextFile } from '../front-matter/text-file.ts';
import {
  type HeldText,
  inForceOf,
  isGateShut,
  type KeptParts,
  orderlessHash,
  written,
} from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import type { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import { foundOf, guardedOf, sessionKey } from './held-sessions.ts';

/** What holds of the session in `dir`, whose file says `found`. */
export const heldMatter = (store: Store, dir: string, found: SessionMatter): SessionMatter => {
  const gate = gateOf(store);
  const kept = gate.sessions.get(sessionKey(dir));
  if (kept === undefined) return found;
  const guarded = guardedOf(found);
  const holds = inForceOf(gate, kept.matter, guarded);
  return holds === guarded ? found : holds;
};

/** What holds of the plan or the comments of a session, whose file is `found`. */
export const heldText = (
  store: Store,
  dir: string,
  name: HeldText,
  found: TextFile | undefined,
): TextFile | undefined => {
  const gate = gateOf(store);
  const kept = gate.sessions.get(sessionKey(dir));
  if (kept === undefined) return found;
  const content = found?.content ?? null;
  const holds = inForceOf(gate, kept[name], content);
  if (holds === content) return found;
  if (holds === null) return undefined;
  return {
    filename: `${name}.md`,
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
  const none = { holds: null };
  const kept = known ?? { id, case_id: caseId, matter: { holds }, plan: none, comments: none };
  const found = foundOf(store, caseId, key)?.matter ?? holds;
  keep(store, key, {
    ...kept,
    matter: written(gate, kept.matter, { holds, found }, store.clock()),
  });
};

/** The same of its plan or its comments, which are about to be written. */
export const intendText = (store: Store, dir: string, name: HeldText, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept === undefined) return;
  const part = { holds: null, ...kept[name], next: orderlessHash(content) };
  keep(store, sessionKey(dir), { ...kept, [name]: part });
};

/** The daemon wrote that text: it holds. */
export const noteText = (store: Store, dir: string, name: HeldText, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept !== undefined) keep(store, sessionKey(dir), { ...kept, [name]: { holds: content } });
};

const keep = (store: Store, key: string, kept: KeptParts): void => {
  gateOf(store).sessions.set(key, kept);
  saveGate(store);
};
