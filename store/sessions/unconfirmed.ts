import { join, relative } from 'node:path';
import { trustHash } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { approvedFile, planFile, sessionFile, sessionsDir } from '../layout.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { isEnded, type Session, type SessionMatter } from '../records/session.ts';
import type { WaitingValue } from '../records/trust.ts';
import { remembered, type Store } from '../store.ts';
import { grantApproval, grantFeedback, grantStart } from './consent.ts';
import { claimSession, readIn, readSession, type StoredSession } from './sessions.ts';

/**
 * Sessions that have not ended and whose files say that they were started, or approved, while this machine has no record of
 * it; each with what would run.
 */
export const unconfirmedSessions = (store: Store): WaitingValue[] =>
  openSessions(store).map((kept) => waitingOf(store, kept));

/** The same of one session; undefined where the operator decided all of it on this machine, or it is not followed here. */
export const unconfirmedSession = (
  store: Store,
  { case_id, id }: Pick<Session, 'case_id' | 'id'>,
): WaitingValue | undefined => {
  const kept = store.journal.runs.has(id) ? unconfirmedAt(store, case_id, id) : undefined;
  return kept && waitingOf(store, kept);
};

const openDirs = remembered(() => new Map<string, ReadonlyMap<string, string>>());

/** Notes which sessions of a Work item have not ended as their files say: their directories, with their ids. */
export const noteOpenSessions = (
  store: Store,
  caseId: string,
  found: ReadonlyMap<string, string> = new Map(),
): void => {
  if (found.size === 0) openDirs(store).delete(caseId);
  else openDirs(store).set(caseId, found);
};

/** Those of them that came by file, and that this daemon never met; each with what would run. */
export const plantedSessions = (
  store: Store,
  caseId: string,
): { session: Session; waiting: WaitingValue }[] => {
  const dir = itemOf(store, caseId)?.dir;
  const unmet = [...(openDirs(store).get(caseId) ?? [])].filter(
    ([, id]) => !store.journal.runs.has(id),
  );
  if (dir === undefined || unmet.length === 0) return [];
  const folder = sessionsDir(join(store.layout.root, dir));
  return unmet
    .flatMap(([name]) => strangerAt(store, caseId, join(folder, name)) ?? [])
    .map((kept) => ({ session: kept.session, waiting: waitingOf(store, kept) }));
};

/**
 * Keeps that the operator confirms these, as far as they are what was looked at, and answers the ids of their Work items.
 */
export const confirmSessions = async (
  store: Store,
  values: readonly WaitingValue[],
): Promise<string[]> => {
  const wanted = new Set(values.map(({ key, hash }) => `${key} ${hash}`));
  const meant = openSessions(store).filter((kept) => {
    const { key, hash } = waitingOf(store, kept);
    return wanted.has(`${key} ${hash}`);
  });
  for (const kept of meant) {
    const { case_id, id, unconfirmed } = kept.session;
    confirmClaim(store, { case_id, matter: kept.matter, unconfirmed });
    // One that the journal does not know would be followed by nobody.
    if (!store.journal.runs.has(id)) await claimSession(store, kept);
  }
  return meant.map(({ session }) => session.case_id);
};

const openSessions = (store: Store): StoredSession[] => [
  ...[...store.journal.runs].flatMap(
    ([id, { case_id }]) => unconfirmedAt(store, case_id, id) ?? [],
  ),
  ...allItems(store).flatMap(({ id, dir }) =>
    sessionDirs(store.layout.root, dir).flatMap((path) => strangerAt(store, id, path) ?? []),
  ),
];

const unconfirmedAt = (store: Store, caseId: string, id: string): StoredSession | undefined => {
  const kept = ifReadable(() => readSession(store, caseId, id), undefined);
  return kept?.session.unconfirmed === undefined ? undefined : kept;
};

/** The directories of a Work item's sessions. */
export const sessionDirs = (root: string, dir: string): string[] => {
  const folder = sessionsDir(join(root, dir));
  return listDirectory(folder).map((name) => join(folder, name));
};

const ended = remembered(() => new Map<string, string>());

// One that came by file, and that this daemon never met. Most sessions have ended for good, and are read once.
const strangerAt = (store: Store, caseId: string, dir: string): StoredSession | undefined => {
  const stats = statsAt(sessionFile(dir));
  const mark = `${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size}`;
  if (stats === undefined || ended(store).get(dir) === mark) return undefined;
  const kept = ifReadable(() => readIn(store, caseId, dir), undefined);
  if (kept !== undefined && isEnded(kept.session.status)) ended(store).set(dir, mark);
  if (kept === undefined || store.journal.runs.has(kept.session.id)) return undefined;
  return kept.session.unconfirmed === undefined ? undefined : kept;
};

/** What the files of a session claim, and where they are. */
export interface SessionClaim {
  case_id: string;
  title: string | undefined;
  dir: string;
  matter: SessionMatter;
  unconfirmed: Session['unconfirmed'];
}

/** Keeps that the operator confirms what a session's files claim. */
export const confirmClaim = (
  store: Pick<Store, 'consent'>,
  { unconfirmed, ...claim }: Pick<SessionClaim, 'case_id' | 'matter' | 'unconfirmed'>,
): void => {
  if (unconfirmed === 'approved') {
    grantApproval(store, claim);
    return;
  }
  grantStart(store, claim);
  const { matter } = claim;
  if (typeof matter.feedback === 'string') grantFeedback(store, matter, matter.feedback);
};

const waitingOf = (store: Store, { session, matter, dir }: StoredSession): WaitingValue => {
  const { case_id, unconfirmed } = session;
  const title = itemOf(store, case_id)?.files.case.value?.matter.title;
  return claimed(store.layout, { case_id, title, dir, matter, unconfirmed });
};

/** A claim as it is shown to the operator, with the text that would run or that waits. */
export const claimed = (
  { root }: Pick<Layout, 'root'>,
  { case_id, title, dir, matter, unconfirmed }: SessionClaim,
): WaitingValue => {
  const { id, type, mode, status, provider, created_at } = matter;
  const { model, effort, branch, base_commit, comment, feedback } = matter;
  const isApproval = unconfirmed === 'approved';
  const text = (path: string): string | undefined =>
    ifReadable(() => readRegularFile(root, path)?.toString('utf8'), undefined);
  const value = {
    ...{ type, mode, status, provider, model, effort, comment, feedback, branch, base_commit },
    ...(isApproval && {
      plan_sha256: matter.approved_sha256 ?? matter.plan_sha256,
      plan: text(approvedFile(dir)),
    }),
    ...(status === 'plan_ready' && { plan: text(planFile(dir)) }),
  };
  return {
    key: `sessions/${id}`,
    kind: isApproval ? 'approval' : 'session',
    file: relative(root, sessionFile(dir)),
    case_id,
    ...(title !== undefined && { title }),
    value: JSON.parse(JSON.stringify(value)),
    trusted_value: null,
    hash: trustHash(value),
    since: created_at,
  };
};
