import { confirmWorktrees, refreshClaims } from '../../../store/pending/claimed-worktrees.ts';
import {
  acceptPending,
  type PendingChange,
  pendingChanges,
} from '../../../store/pending/pending.ts';
import { notifyItemChanged } from '../../../store/reconcile/items.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { confirmSessions, unconfirmedSessions } from '../../../store/sessions/unconfirmed.ts';
import {
  refreshGlobals,
  refreshTrust,
  settingsEntry,
  untrustedSettings,
} from '../../../store/settings/globals.ts';
import { waitingSettingValues } from '../../../store/settings/trust/waiting.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { waitingRegistrations } from '../../../store/webhooks/webhooks.ts';
import { pendingKeys } from '../../../store/workspace/api-keys.ts';

/** The webhook dispatcher, which rereads its receivers on `changed`. */
export interface WithReceivers {
  readonly dispatcher: { changed(): void };
}

/** A kind of values that wait for the operator's trust. */
interface TrustSource {
  /** The values that wait now. */
  list(service: WithReceivers & WithStore): Promise<WaitingValue[]>;
  /** Trusts these values, which `list` has just returned; on disk when it resolves. */
  accept(service: WithReceivers & WithStore, values: readonly WaitingValue[]): Promise<void>;
}

const settings: TrustSource = {
  list: async ({ store, dispatcher }) => {
    await refreshGlobals(store);
    // The refresh consumes the change, so the dispatcher must be notified here.
    dispatcher.changed();
    return waitingSettingValues(store.layout, {
      waiting: untrustedSettings(store),
      written_at: settingsEntry(store)?.written_at ?? 0,
    });
  },
  accept: async ({ store }, values) => {
    store.consent.grant(values.map(wordOf));
    refreshTrust(store);
  },
};

const webhooks: TrustSource = {
  list: async ({ store }) => waitingRegistrations(store),
  accept: async ({ store, dispatcher }, values) => {
    store.consent.grant(values.map(wordOf));
    for (const { key } of values) announceTrustChange(store, key);
    dispatcher.changed();
  },
};

// Lets followers of the Work item reread its webhooks.
export const announceTrustChange = (store: Store, key: string): void => {
  const [, id] = /^cases\/([^/]+)\//.exec(key) ?? [];
  if (id !== undefined) notifyItemChanged(store, id);
};

const wordOf = ({ key, value }: WaitingValue) => ({ key, value: value ?? undefined });

const keys: TrustSource = {
  list: async ({ store: { layout, consent } }) => pendingKeys(layout, consent),
  accept: async ({ store }, values) => store.consent.grant(values.map(wordOf)),
};

// Sessions that are started or approved only in their files.
const sessionsThat = (isMeant: (kind: WaitingValue['kind']) => boolean): TrustSource => ({
  list: async ({ store }) => unconfirmedSessions(store).filter(({ kind }) => isMeant(kind)),
  accept: async ({ store }, values) => {
    // The pending values of the Work item have changed.
    for (const id of await confirmSessions(store, values)) notifyItemChanged(store, id);
  },
});

// Worktree records that this machine did not write.
const worktrees: TrustSource = {
  list: async ({ store }) => refreshClaims(store),
  accept: async ({ store }, values) => {
    for (const id of await confirmWorktrees(store.layout, values)) notifyItemChanged(store, id);
    refreshClaims(store);
  },
};

/** File changes that are held because an unsandboxed program ran. */
const heldSource = {
  list: async ({ store }: WithStore): Promise<WaitingValue[]> =>
    pendingChanges(store).map(asWaiting),
  accept: async ({ store }: WithStore, chosen: readonly WaitingValue[]): Promise<void> => {
    const wanted = new Set(chosen.map(({ key, hash }) => `${key} ${hash}`));
    const meant = pendingChanges(store).filter((change) =>
      wanted.has(`${changeKey(change)} ${change.sha}`),
    );
    await acceptPending(store, new Set(meant.map(({ id }) => id)));
  },
};

const asWaiting = (change: PendingChange): WaitingValue => ({
  key: changeKey(change),
  kind: 'change',
  file: change.file,
  value: change.to,
  trusted_value: change.from,
  hash: change.sha,
  since: change.since,
});

/** The key under which a held change is trusted. */
export const changeKey = ({ file, field }: PendingChange): string => `${file}#${field}`;

/** The sources of values that wait for trust, by kind. */
export const SOURCES: Partial<Record<WaitingValue['kind'], TrustSource>> = {
  setting: settings,
  webhook: webhooks,
  change: heldSource,
  session: sessionsThat((kind) => kind === 'session'),
  approval: sessionsThat((kind) => kind === 'approval'),
  key: keys,
  worktree: worktrees,
};
