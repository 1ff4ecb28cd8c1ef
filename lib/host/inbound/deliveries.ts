import { createHmac, timingSafeEqual } from 'node:crypto';
import { lockOn } from '../../../store/base/locks.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { hasArrived, recordArrival } from '../../../store/codehost/arrivals.ts';
import { readIssueCopy } from '../../../store/codehost/issue-copy.ts';
import { linksWhere } from '../../../store/codehost/link-index.ts';
import { changeLink } from '../../../store/codehost/links.ts';
import { changePull, pullsWhere, readPull } from '../../../store/codehost/pulls.ts';
import { appendTimeline, type NewTransition } from '../../../store/codehost/timeline.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { PullMatter, PullTransition } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import { incomingSecrets } from '../../../store/webhooks/secrets.ts';
import { noteMergedPull } from '../../code/worktrees/inspect/merged.ts';
import { ServiceError } from '../../errors.ts';
import { counted } from '../../text/wording.ts';
import { byOccurrence, unknown } from '../pull-requests/timeline.ts';
import { type HostNews, isIn, isOlder, matchingSubject, newest, readNews } from './host-news.ts';
import { type Change, payloadOf, type Subject } from './payload.ts';

interface Delivery {
  headers: Record<string, string | string[] | undefined>;
  /** The exact bytes of the request body. */
  bytes: Buffer;
}

/** The result of a delivery. */
interface Taken {
  event: string;
  /** True where the delivery had been processed before; nothing was done. */
  duplicate: boolean;
  /** The Work items whose records changed. */
  case_ids: string[];
  /** The result as a sentence. */
  note: string;
}

/**
 * Processes a delivery of the code host's webhook, once. An unsigned one leaves no trace. It appends to the timelines
 * of pull requests and marks records as stale; it makes no request to the host and moves no Work item.
 */
export const processDelivery = (store: Store, { headers, bytes }: Delivery): Promise<Taken> => {
  const secrets = incomingSecrets(store.layout);
  checkSignature(bytes, headerIn(headers, 'x-hub-signature-256'), secrets);
  const event = named(headers, 'X-GitHub-Event', /^[a-z0-9_]{1,100}$/);
  const id = named(headers, 'X-GitHub-Delivery', /^[A-Za-z0-9._-]{1,100}$/);
  if (event === 'ping') return Promise.resolve(done(event, [], PONG));
  const payload = payloadOf(bytes);
  const arrival = { id, event, sha256: sha256(bytes) };
  // Deliveries are processed one at a time, so the second of two equal ones finds the first recorded.
  return store.locks.take(lockOn.arrivals(), async () => {
    if (hasArrived(store, arrival)) return { ...done(event, [], AGAIN), duplicate: true };
    const told = readNews(event, payload);
    const { case_ids, note } = await applyNews(store, told);
    // Recorded last: after a crash the host's repeat completes the work, and repeating a step changes nothing.
    await recordArrival(store, arrival);
    return done(event, case_ids, note);
  });
};

const done = (event: string, case_ids: string[], note: string): Taken => ({
  event,
  duplicate: false,
  case_ids,
  note,
});

const PONG = 'The webhook is set up: the signature is valid.';
const AGAIN = 'This delivery was processed before; nothing was done.';

const headerIn = (headers: Delivery['headers'], name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
};

const named = (headers: Delivery['headers'], name: string, form: RegExp): string => {
  const value = headerIn(headers, name) ?? '';
  if (form.test(value)) return value;
  throw new ServiceError(
    'bad_request',
    `${name} is ${value === '' ? 'missing' : 'malformed'}. Forward the delivery with all its original headers.`,
  );
};

/**
 * Throws unless one of the secrets signed these bytes: 422 without a secret, 401 for a missing or wrong signature. The
 * time it takes does not depend on the correct signature. SHA-1 signatures (X-Hub-Signature) are ignored.
 */
const checkSignature = (
  bytes: Buffer,
  signature: string | undefined,
  secrets: readonly string[],
): void => {
  if (secrets.length === 0) throw noSecret();
  const sent = Buffer.from(/^sha256=([0-9a-f]{64})$/i.exec(signature ?? '')?.[1] ?? '', 'hex');
  const right = secrets.map((secret) => createHmac('sha256', secret).update(bytes).digest());
  // All are compared, for constant time.
  const matches = right.filter((one) => one.length === sent.length && timingSafeEqual(one, sent));
  if (matches.length === 0) throw unsigned(signature);
};

const noSecret = (): ServiceError =>
  new ServiceError(
    'codehost_no_webhook_secret',
    'No webhook secret is set, so deliveries are refused. Set it with PUT /api/codehost/settings {"webhook_secret": "…"}, and use the same secret on the code host (gh webhook forward --secret …).',
  );

const unsigned = (signature: string | undefined): ServiceError =>
  new ServiceError(
    'unauthorized',
    signature === undefined
      ? 'X-Hub-Signature-256 is missing. Set the same secret for the webhook on the code host.'
      : 'X-Hub-Signature-256 does not match this body and the configured secret. Compare the secrets, and make sure that a proxy does not change the body.',
  );

/** Applies a delivery to the records of the Work items that it is about. Idempotent. */
const applyNews = async (
  store: Store,
  told: HostNews | undefined,
): Promise<{ case_ids: string[]; note: string }> => {
  if (told === undefined) return { case_ids: [], note: NOT_LINKED };
  const affected: Affected = { updated: new Set(), newer: new Set() };
  await applyToPulls(store, told, affected);
  await applyToLinks(store, told, affected);
  const case_ids = [...affected.updated];
  if (case_ids.length > 0)
    return { case_ids, note: `Updated: ${counted(case_ids.length, 'Work item')}.` };
  return { case_ids, note: affected.newer.size > 0 ? OLDER : NOT_LINKED };
};

const NOT_LINKED = 'No Work item is linked to its issue or pull request.';
const OLDER = 'It is older than the records here; nothing was done.';

/** The Work items that were updated, and those that already had newer data. */
interface Affected {
  updated: Set<string>;
  newer: Set<string>;
}

/** Marks the links to the affected issues as stale; the next sync reads what changed. */
const applyToLinks = async (store: Store, told: HostNews, affected: Affected): Promise<void> => {
  if (told.issues.length === 0 && told.formerly === undefined) return;
  const isMeant = (link: IssueLinkMatter): boolean =>
    matchingSubject(told, told.issues, link) !== undefined;
  for (const [id, link] of await linksWhere(store, isMeant)) {
    const issue = matchingSubject(told, told.issues, link) as Subject;
    const isKnown = isOlder(issue, readIssueCopy(store, id)?.updated_at);
    (isKnown ? affected.newer : affected.updated).add(id);
    if (!isKnown) await markStale(store, id, { told, issue });
  }
};

// A conflict stays a conflict: the operator has to settle it either way.
const markStale = (
  store: Store,
  id: string,
  { told: { event, action }, issue: subject }: { told: HostNews; issue: Subject },
): Promise<unknown> =>
  changeLink(store, id, ({ issue }) => {
    if (issue === undefined) return undefined;
    const told_at = newest(subject, issue);
    if (issue.status !== 'linked') return { changes: told_at };
    const line = `stale: the host reported ${[event, action].filter(Boolean).join(' ')}`;
    return { changes: { status: 'stale', ...told_at }, line };
  });

type Pull = HostNews['pulls'][number];

/** Appends to the timelines of the affected pull requests and marks their records as stale. */
const applyToPulls = async (store: Store, told: HostNews, affected: Affected): Promise<void> => {
  const isMeant = (matter: PullMatter): boolean => about(told, matter) !== undefined;
  for (const id of await pullsWhere(store, isMeant)) {
    const matter = readPull(store, id)?.matter;
    const pull = matter && about(told, matter);
    // The record may have changed since the index was read.
    if (matter === undefined || pull === undefined) continue;
    const isKnown = isOlder(pull, matter.updated_at);
    (isKnown ? affected.newer : affected.updated).add(id);
    if (!isKnown) await applyToPull(store, id, { matter, pull });
  }
};

const applyToPull = async (
  store: Store,
  id: string,
  { matter, pull }: { matter: PullMatter; pull: Pull },
): Promise<void> => {
  const { change, merge } = pull;
  if (change !== undefined) await addChange(store, id, { change, matter });
  await changePull(store, id, { changes: { stale: true, ...merge, ...newest(pull, matter) } });
  if (merge === undefined) return;
  const { base_ref: into, head_sha: commit } = merge;
  await noteMergedPull(store, id, { into, commit, head_ref: matter.head_ref });
};

const about = (told: HostNews, matter: PullMatter): Pull | undefined => {
  const isChecked = told.commit !== undefined && told.commit === matter.head_sha;
  if (!isChecked || !isIn(told, matter)) return matchingSubject(told, told.pulls, matter);
  return { number: matter.number, node_id: undefined, updated_at: undefined };
};

const addChange = async (
  store: Store,
  id: string,
  { change, matter }: { change: Change; matter: PullMatter },
): Promise<void> => {
  const { number, state } = matter;
  const observed_at = store.clock().toISOString();
  await appendTimeline(store, id, (known) => {
    const before = lastBefore(known, number, change.occurred_at);
    const from = change.event === 'opened' ? 'none' : (before?.to ?? state);
    const told: NewTransition = { number, from, ...change, observed_at, source: 'webhook' };
    return unknown(known, [told]);
  });
};

const lastBefore = (
  known: readonly PullTransition[],
  number: number,
  time: string,
): PullTransition | undefined =>
  known
    .filter((each) => each.number === number && Date.parse(each.occurred_at) <= Date.parse(time))
    .toSorted(byOccurrence)
    .at(-1);
