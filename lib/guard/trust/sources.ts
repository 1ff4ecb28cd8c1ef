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

/** Kinds of values that wait for the operator's trust. */
interface TrustSource {
  kinds: readonly WaitingValue['kind'][];
  /** The values that wait now. */
  list(service: WithReceivers & WithStore): Promise<WaitingValue[]>;
  /** Trusts these values, which `list` has just returned; on disk when it resolves. */
  accept(service: WithReceivers & WithStore, values: readonly WaitingValue[]): Promise<void>;
}

const settings: TrustSource = {
  kinds: ['setting'],
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
  kinds: ['webhook'],
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
  kinds: ['key'],
  list: async ({ store: { layout, consent } }) => pendingKeys(layout, consent),
  accept: async ({ store }, values) => store.consent.grant(values.map(wordOf)),
};

// Sessions that are started or approved only in their files.
const sessions: TrustSource = {
  kinds: ['session', 'approval'],
  list: ({ store }) => unconfirmedSessions(store),
  accept: async ({ store }, values) => {
    // The pending values of the Work item have changed.
    for (const id of await confirmSessions(store, values)) notifyItemChanged(store, id);
  },
};

// Worktree records that this machine did not write.
const worktrees: TrustSource = {
  kinds: ['worktree'],
  list: async ({ store }) => refreshClaims(store),
  accept: async ({ store }, values) => {
    for (const id of await confirmWorktrees(store.layout, values)) notifyItemChanged(store, id);
    refreshClaims(store);
  },
};

/** File changes that are held because an unsandboxed program ran. */
const heldChanges: TrustSource = {
  kinds: ['change'],
  list: async ({ store }) => pendingChanges(store).map(asWaiting),
  accept: async ({ store }, chosen) => {
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

/** All kinds of values that wait for trust, each with one source. */
export const SOURCES: readonly TrustSource[] = [
  settings,
  webhooks,
  heldChanges,
  sessions,
  keys,
  worktrees,
];
