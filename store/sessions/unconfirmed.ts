import { join, relative } from 'node:path';
import { inSlices } from '../base/async.ts';
import { orElse } from '../base/attempt.ts';
import { trustHash } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { approvedFile, planFile, sessionFile, sessionsDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { isEnded, type Session, type SessionMatter } from '../records/session.ts';
import type { WaitingValue } from '../records/trust.ts';
import { remembered, type Store } from '../store.ts';
import { grantApproval, grantFeedback, grantStart } from './consent.ts';
import { claimSession, readSession, readSessionAt, type StoredSession } from './sessions.ts';

/**
 * Open sessions whose files claim a start or an approval without a record on this machine, each with what would run. Looks
 * at all Work items, and yields to other requests.
 */
export const unconfirmedSessions = async (store: Store): Promise<WaitingValue[]> =>
  (await allClaims(store)).map((kept) => waitingOf(store, kept));

/** Those of one Work item, as its files are now. */
export const claimsOf = (store: Store, item: Place): StoredSession[] => [
  ...[...store.journal.runs].flatMap(([run, { case_id }]) =>
    case_id === item.id ? (unconfirmedAt(store, case_id, run) ?? []) : [],
  ),
  ...unknownSessions(store, item),
];

type Place = Pick<Item, 'id' | 'dir'>;

/** The claim of one session; undefined if the operator decided on this machine, or the session is not in the journal. */
export const unconfirmedSession = (
  store: Store,
  { case_id, id }: Pick<Session, 'case_id' | 'id'>,
): WaitingValue | undefined => {
  const kept = store.journal.runs.has(id) ? unconfirmedAt(store, case_id, id) : undefined;
  return kept && waitingOf(store, kept);
};

const openDirs = remembered(() => new Map<string, ReadonlyMap<string, string>>());

/** Notes the open sessions of a Work item: names of their directories, with their ids. */
export const noteOpenSessions = (
  store: Store,
  caseId: string,
  found: ReadonlyMap<string, string> = new Map(),
): void => {
  if (found.size === 0) openDirs(store).delete(caseId);
  else openDirs(store).set(caseId, found);
};

/** The claims of open sessions that are not in the journal. */
export const importedClaims = (
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
    .flatMap(([name]) => unknownSessionAt(store, caseId, join(folder, name)) ?? [])
    .map((kept) => ({ session: kept.session, waiting: waitingOf(store, kept) }));
};

/** Records the operator's confirmation of claims that did not change since they were shown; returns their Work items' ids. */
export const confirmSessions = async (
  store: Store,
  values: readonly WaitingValue[],
): Promise<string[]> => {
  const confirmed: string[] = [];
  for (const value of values) {
    // Read right before the grant: what ended meanwhile claims nothing.
    const kept = claimNow(store, value);
    if (kept === undefined) continue;
    const { case_id, id, unconfirmed } = kept.session;
    confirmClaim(store, { case_id, matter: kept.matter, unconfirmed });
    // Only sessions in the journal are run.
    if (!store.journal.runs.has(id)) await claimSession(store, kept);
    confirmed.push(case_id);
  }
  return confirmed;
};

const claimNow = (
  store: Store,
  { case_id = '', key, hash }: WaitingValue,
): StoredSession | undefined => {
  const id = key.slice('sessions/'.length);
  const run = store.journal.runs.get(id);
  const item = itemOf(store, case_id);
  const kept = run
    ? unconfirmedAt(store, run.case_id, id)
    : item && unknownSessions(store, item).find(({ session }) => session.id === id);
  return kept !== undefined && waitingOf(store, kept).hash === hash ? kept : undefined;
};

const allClaims = async (store: Store): Promise<StoredSession[]> => {
  const found: StoredSession[] = [];
  await inSlices([...store.journal.runs], ([id, { case_id }]) => {
    const kept = unconfirmedAt(store, case_id, id);
    if (kept !== undefined) found.push(kept);
  });
  await inSlices(allItems(store), (item) => {
    found.push(...unknownSessions(store, item));
  });
  return found;
};

// One that cannot be read claims nothing, and hides no other. Its problem is reported elsewhere.
const unconfirmedAt = (store: Store, caseId: string, id: string): StoredSession | undefined => {
  const kept = orElse(() => readSession(store, caseId, id), undefined);
  return kept?.session.unconfirmed === undefined ? undefined : kept;
};

/** The directories of a Work item's sessions. */
export const sessionDirs = (root: string, dir: string): string[] => {
  const folder = sessionsDir(join(root, dir));
  return listDirectory(folder).map((name) => join(folder, name));
};

const ended = remembered(() => new Map<string, string>());

const unknownSessions = (store: Store, { id, dir }: Place): StoredSession[] =>
  orElse(() => sessionDirs(store.layout.root, dir), []).flatMap(
    (path) => unknownSessionAt(store, id, path) ?? [],
  );

// A session that is not in the journal, so no copy of one that is. Ended sessions are read once.
const unknownSessionAt = (store: Store, caseId: string, dir: string): StoredSession | undefined => {
  const stats = orElse(() => statsAt(sessionFile(dir)), undefined);
  const mark = `${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size}`;
  if (stats === undefined || ended(store).get(dir) === mark) return undefined;
  const kept = orElse(() => readSessionAt(store, caseId, dir), undefined);
  if (kept !== undefined && isEnded(kept.session.status)) ended(store).set(dir, mark);
  if (kept === undefined || store.journal.runs.has(kept.session.id)) return undefined;
  return kept.session.unconfirmed === undefined ? undefined : kept;
};

/** A session whose files claim a start or an approval. */
export interface SessionClaim {
  case_id: string;
  title: string | undefined;
  dir: string;
  matter: SessionMatter;
  unconfirmed: Session['unconfirmed'];
}

/** Records the operator's confirmation of a claim. */
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
  return pendingClaim(store.layout, { case_id, title, dir, matter, unconfirmed });
};

/** A claim as shown to the operator, with the text that would run. */
export const pendingClaim = (
  { root }: Pick<Layout, 'root'>,
  { case_id, title, dir, matter, unconfirmed }: SessionClaim,
): WaitingValue => {
  const { id, type, mode, status, provider, created_at } = matter;
  const { model, effort, base, branch, base_commit, comment, feedback } = matter;
  const isApproval = unconfirmed === 'approved';
  const text = (path: string): string | undefined =>
    orElse(() => readRegularFile(root, path)?.toString('utf8'), undefined);
  const value = {
    type,
    mode,
    status,
    provider,
    model,
    effort,
    comment,
    feedback,
    base,
    branch,
    base_commit,
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
