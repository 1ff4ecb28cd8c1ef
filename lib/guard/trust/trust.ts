import { lockOn } from '../../../store/base/locks.ts';
import { withoutLocks } from '../../../store/base/mutex.ts';
import { trustCommandFor } from '../../../store/base/text.ts';
import { recordChange } from '../../../store/base/write-stage.ts';
import type {
  Trusted,
  TrustedValue,
  TrustWish,
  WaitingValue,
} from '../../../store/records/trust.ts';
import { unconfirmedSessions } from '../../../store/sessions/unconfirmed.ts';
import { refreshGlobals, revokeTrust } from '../../../store/settings/globals.ts';
import { trustedValues } from '../../../store/settings/trust/trust-log.ts';
import { plain } from '../../../store/settings/trust/waiting.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { readyToWrite } from '../../../store/store.ts';
import { notFound, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { announceTrustChange, SOURCES, type WithReceivers } from './sources.ts';

/** Callbacks that run after the operator trusted a value. */
export interface WithTrusted {
  readonly trusted: Set<() => void>;
}

/** All values that wait for the operator's trust, such as settings, webhooks and held changes, by file and line. */
export const listWaiting = async (service: WithReceivers & WithStore): Promise<WaitingValue[]> => {
  const found: WaitingValue[] = [];
  for (const source of SOURCES) found.push(...(await source.list(service)));
  return found.toSorted((a, b) => order(a, b));
};

const order = (a: WaitingValue, b: WaitingValue): number =>
  Number(a.file > b.file) - Number(a.file < b.file) || (a.line ?? 0) - (b.line ?? 0);

/** Trusts all waiting values, or the given ones. 412 `precondition_failed` if one of those changed; then none is trusted. */
export const trust = (
  service: WithReceivers & WithStore & WithTrusted,
  wish: TrustWish,
): Promise<Trusted> =>
  service.store.locks.take(lockOn.trust(), async () => {
    await readyToWrite(service.store);
    const waiting = await listWaiting(service);
    const chosen =
      'all' in wish
        ? waiting.filter(isIncludedInAll)
        : chosenOf(service.store, waiting, wish.values);
    for (const source of SOURCES) {
      const ofKind = chosen.filter(({ kind }) => source.kinds.includes(kind));
      if (ofKind.length > 0)
        await noted(service.store, () => source.accept(service, ofKind), {
          isDone: ({ wasGranted }) => ofKind.some(({ key, hash }) => wasGranted(key, hash)),
        });
    }
    if (chosen.length > 0) tellTrusted(service.trusted);
    return { trusted: chosen.map(({ key }) => key), waiting: await listWaiting(service) };
  });

/** Whether `all` includes a value: approvals of plans must be named. */
export const isIncludedInAll = ({ kind }: WaitingValue): boolean => kind !== 'approval';

type Seen = Extract<TrustWish, { values: unknown }>['values'];

const chosenOf = (store: Store, waiting: readonly WaitingValue[], seen: Seen): WaitingValue[] =>
  seen.flatMap(({ key, hash }) => {
    const found = waiting.filter((value) => value.key === key);
    const same = found.filter((value) => value.hash === hash);
    if (same.length > 0) return same;
    // A concurrent call has trusted the same value already.
    const holds = found.length === 0 && store.consent.wasGranted(key, hash);
    if (holds) return [];
    throw new ServiceError(
      'precondition_failed',
      `${key} has changed since you read it. Nothing was trusted. Read the waiting values again (GET /trust), then decide.`,
    );
  });

/** The trusted values, which can be revoked. */
export const listTrusted = ({ store }: WithStore): TrustedValue[] => trustedValues(store.consent);

/** Revokes the trust in a key at once: its value in the files waits again. 404 if it is not trusted. */
export const revoke = (service: WithReceivers & WithStore, key: string): Promise<void> =>
  service.store.locks.take(lockOn.trust(), async () => {
    const { store, dispatcher } = service;
    await readyToWrite(store);
    const isTrusted = await noted(store, async () => revokeTrust(store, key), {
      isDone: ({ list }) => !list().has(key),
    });
    if (!isTrusted) throw notFound('trusted value', key);
    await refreshGlobals(store);
    announceTrustChange(store, key);
    dispatcher.changed();
  });

// A write that failed may still be on disk: check, so that the error's `outcome` is correct.
const noted = async <T>(
  { consent }: Store,
  decide: () => Promise<T>,
  { isDone }: { isDone: (log: Store['consent']) => boolean },
): Promise<T> => {
  try {
    const decided = await decide();
    recordChange('consent');
    return decided;
  } catch (error) {
    consent.refresh();
    if (isDone(consent)) recordChange('consent');
    throw error;
  }
};

const tellTrusted = (trusted: Set<() => void>): void => {
  for (const hear of trusted) withoutLocks(hear);
};

/** Logs unconfirmed sessions and plans at the start. Settings, webhooks and worktrees are reported as file problems. */
export const logUnconfirmedSessions = async ({
  store,
  log,
}: WithLog & WithStore): Promise<void> => {
  const all = await unconfirmedSessions(store).catch((error: unknown) => {
    log.error({ err: error }, 'listing the sessions that wait for confirmation failed');
    return [];
  });
  if (all.length === 0) return;
  const waiting = all.map(({ kind, key, title = '' }) => `${kind} ${key} ${plain(title)}`);
  const command = trustCommandFor(store.layout);
  log.warn(
    { waiting },
    `Sessions or plan approvals that were not made on this machine wait for confirmation: run ${command}`,
  );
};
