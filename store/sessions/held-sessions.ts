import { basename, join } from 'node:path';
import { orElse, orElseUnlessDiskFault } from '../base/attempt.ts';
import { shortId } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { trustHash } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { readRecord, readRegularFile } from '../front-matter/record-file.ts';
import type { TextFile } from '../front-matter/text-file.ts';
import {
  type Approved,
  type FileGate,
  type HeldText,
  inForceOf,
  isGateShut,
  type KeptParts,
  settled,
  written,
} from '../held/held.ts';
import { gateOf, saveGate } from '../held/held-file.ts';
import { commentsFile, planFile, planningFile, sessionFile, sessionsDir } from '../layout.ts';
import { allItems, pathOfItem } from '../reconcile/items.ts';
import { PlanningMatter } from '../records/planning.ts';
import { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';

/**
 * Saves the values in force of open sessions and approved planning, from their files as they are now. Values that are held
 * already stay held. On disk when it returns.
 */
export const keepHeldValues = (store: Store): void => {
  const gate = gateOf(store);
  for (const [id, { case_id }] of store.journal.runs) keepSession(store, id, case_id);
  for (const { id } of allItems(store)) {
    const known = gate.planning.get(id);
    const holds = known?.waits === undefined ? approvedIn(store, id) : known.holds;
    if (known?.waits === undefined && holds !== null) gate.planning.set(id, { holds });
  }
  saveGate(store);
};

const keepSession = (store: Store, id: string, case_id: string): void => {
  const key = shortId(id);
  const dir = dirOf(store, case_id, key);
  // With a disk fault the program does not start: values that were not kept would be held later.
  const found =
    dir === undefined ? undefined : orElseUnlessDiskFault(() => foundIn(store, dir), undefined);
  if (found === undefined) return;
  const { sessions } = gateOf(store);
  const known = sessions.get(key);
  sessions.set(key, {
    id,
    case_id,
    matter: known?.matter.waits ? known.matter : { holds: found.matter },
    plan: known?.plan.waits ? known.plan : { holds: found.plan },
    comments: known?.comments?.waits ? known.comments : { holds: found.comments },
  });
};

/** Compares the saved values with the files: holds new changes, and drops saved values without held changes. */
export const settleHeld = (store: Store): void => {
  const gate = gateOf(store);
  if (isGateShut(gate)) keepForged(store);
  if (gate.sessions.size + gate.planning.size === 0) return;
  const at = store.clock();
  for (const [key, kept] of gate.sessions) {
    const found = readHeldSession(store, kept.case_id, key);
    // If one that is unreadable, or away with another branch, were dropped, what comes in its place would count.
    if (found !== undefined) settleSession(gate, kept, found, at);
  }
  for (const [id, part] of gate.planning)
    if (pathOfItem(store, id, planningFile) !== undefined)
      gate.planning.set(id, settled(gate, part, approvedIn(store, id), at));
  if (!isGateShut(gate)) forgetSettled(gate);
  saveGate(store);
};

const settleSession = (gate: FileGate, kept: KeptParts, found: FoundSession, at: Date): void => {
  kept.matter = settled(gate, kept.matter, found.matter, at);
  kept.plan = settled(gate, kept.plan, found.plan, at);
  if (kept.comments !== undefined) kept.comments = settled(gate, kept.comments, found.comments, at);
};

// An approval that appeared while an unsandboxed program ran.
const keepForged = (store: Store): void => {
  const { planning } = gateOf(store);
  for (const { id } of allItems(store))
    if (!planning.has(id) && approvedIn(store, id) !== null) planning.set(id, { holds: null });
};

const forgetSettled = ({ sessions, planning }: FileGate): void => {
  for (const [key, { matter, plan, comments }] of sessions)
    if (!matter.waits && !plan.waits && !comments?.waits) sessions.delete(key);
  for (const [id, { waits }] of planning) if (waits === undefined) planning.delete(id);
};

interface FoundSession {
  dir: string;
  matter: SessionMatter;
  plan: string | null;
  comments: string | null;
}

/** A session as its files are now; undefined if it is gone or unreadable. */
export const readHeldSession = (
  store: Store,
  caseId: string,
  key: string,
): FoundSession | undefined =>
  orElse(() => {
    const dir = dirOf(store, caseId, key);
    return dir === undefined ? undefined : foundIn(store, dir);
  }, undefined);

/** The directory of a session; undefined if it is gone. */
const dirOf = (store: Store, caseId: string, key: string): string | undefined => {
  const folder = pathOfItem(store, caseId, sessionsDir);
  if (folder === undefined) return undefined;
  const name = listDirectory(folder).find((one) => sessionKey(one) === key);
  return name === undefined ? undefined : join(folder, name);
};

const foundIn = ({ layout: { root } }: Store, dir: string): FoundSession | undefined => {
  const matter = readRecord(root, sessionFile(dir), checkerOf(SessionMatter))?.matter;
  const textIn = (path: string) => readRegularFile(root, path)?.toString('utf8') ?? null;
  const [plan, comments] = [textIn(planFile(dir)), textIn(commentsFile(dir))];
  return matter && { dir, matter: guardedOf(matter), plan, comments };
};

/** The key of a session: the short id at the end of its directory's name. */
export const sessionKey = (dir: string): string => basename(dir).slice(-shortId(LONG).length);

const LONG = '00000000-0000';

/** The fields of the schema, without those that were added by hand. */
const guardedOf = (matter: SessionMatter): SessionMatter =>
  Object.fromEntries(
    Object.entries(matter).filter(([key, value]) => FIELDS.has(key) && value !== undefined),
  ) as SessionMatter;

const FIELDS = new Set(Object.keys(SessionMatter.properties));

/** The approval in planning.md; null if there is none or the file is unreadable. */
export const approvedIn = (store: Store, caseId: string): Approved => {
  const path = pathOfItem(store, caseId, planningFile);
  if (path === undefined) return null;
  const planning = () => readRecord(store.layout.root, path, checkerOf(PlanningMatter));
  return orElse(() => planning()?.matter.approved, null) ?? null;
};

/** The record in force of the session in `dir`, whose file says `found`. */
export const heldMatter = (store: Store, dir: string, found: SessionMatter): SessionMatter => {
  const gate = gateOf(store);
  const kept = gate.sessions.get(sessionKey(dir));
  if (kept === undefined) return found;
  const guarded = guardedOf(found);
  const holds = inForceOf(gate, kept.matter, guarded);
  return holds === guarded ? found : holds;
};

/** The text in force of a session's plan or comments, whose file says `found`. */
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

/** Announces a write of a session's record, so that the value is in force even if the daemon dies before `noteMatter`. */
export const intendMatter = (store: Store, matter: SessionMatter): void => {
  const key = shortId(matter.id);
  const kept = gateOf(store).sessions.get(key);
  if (kept === undefined) return;
  const next = trustHash(guardedOf(matter));
  keepParts(store, key, { ...kept, matter: { ...kept.matter, next } });
};

/** Records that the daemon wrote a session's record, which puts it in force. */
export const noteMatter = (store: Store, caseId: string, matter: SessionMatter): void => {
  const key = shortId(matter.id);
  const gate = gateOf(store);
  const known = gate.sessions.get(key);
  if (known === undefined && !isGateShut(gate)) return;
  const holds = guardedOf(matter);
  const { id } = matter;
  const none = { holds: null };
  const kept = known ?? { id, case_id: caseId, matter: { holds }, plan: none, comments: none };
  const found = readHeldSession(store, caseId, key)?.matter ?? holds;
  keepParts(store, key, {
    ...kept,
    matter: written(gate, kept.matter, { holds, found }, store.clock()),
  });
};

/** Announces a write of a session's plan or comments, as `intendMatter`. */
export const intendText = (store: Store, dir: string, name: HeldText, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept === undefined) return;
  const part = { holds: null, ...kept[name], next: trustHash(content) };
  keepParts(store, sessionKey(dir), { ...kept, [name]: part });
};

/** Records that the daemon wrote a session's plan or comments. */
export const noteText = (store: Store, dir: string, name: HeldText, content: string): void => {
  const kept = gateOf(store).sessions.get(sessionKey(dir));
  if (kept !== undefined)
    keepParts(store, sessionKey(dir), { ...kept, [name]: { holds: content } });
};

const keepParts = (store: Store, key: string, kept: KeptParts): void => {
  gateOf(store).sessions.set(key, kept);
  saveGate(store);
};
