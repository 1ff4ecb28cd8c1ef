import {
  acceptWaiting,
  type WaitingChange,
  waitingChanges,
} from '../../../store/pending/pending.ts';
import { announce } from '../../../store/reconcile/items.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { confirmSessions, unconfirmedSessions } from '../../../store/sessions/unconfirmed.ts';
import {
  refreshGlobals,
  refreshTrust,
  settingsEntry,
  trustValues,
  waitingSettings,
} from '../../../store/settings/globals.ts';
import { waitingSettingValues } from '../../../store/settings/trust/waiting.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { waitingRegistrations } from '../../../store/webhooks/webhooks.ts';
import { waitingKeys } from '../../../store/workspace/api-keys.ts';
import { confirmWorktrees, lookAtWorktrees } from '../../../store/worktrees/claimed-worktrees.ts';

/** Who sends to receivers of events, and looks at them again when it is told that they changed. */
export interface WithReceivers {
  readonly dispatcher: { changed(): void };
}

/** A kind of things that wait for the operator's word. */
interface TrustSource {
  /** What of it waits now. */
  list(service: WithReceivers & WithStore): Promise<WaitingValue[]>;
  /** Makes these hold, of those that `list` answered a moment ago; on disk when it resolves. */
  accept(service: WithReceivers & WithStore, values: readonly WaitingValue[]): Promise<void>;
}

const settings: TrustSource = {
  list: async ({ store, dispatcher }) => {
    await refreshGlobals(store);
    // What was found changed here is found so by nobody else.
    dispatcher.changed();
    return waitingSettingValues(store.layout, {
      waiting: waitingSettings(store),
      written_at: settingsEntry(store)?.written_at ?? 0,
    });
  },
  accept: async ({ store }, values) => {
    trustValues(store, values.map(wordOf));
    refreshTrust(store);
  },
};

const webhooks: TrustSource = {
  list: async ({ store }) => waitingRegistrations(store),
  accept: async ({ store, dispatcher }, values) => {
    trustValues(store, values.map(wordOf));
    for (const { key } of values) announceTrustChange(store, key);
    dispatcher.changed();
  },
};

// Whoever follows a Work item's registrations looks at them again.
export const announceTrustChange = (store: Store, key: string): void => {
  const [, id] = /^cases\/([^/]+)\//.exec(key) ?? [];
  if (id !== undefined) announce(store, id);
};

const wordOf = ({ key, value }: WaitingValue) => ({ key, value: value ?? undefined });

const keys: TrustSource = {
  list: async ({ store: { layout, consent } }) => waitingKeys(layout, consent),
  accept: async ({ store }, values) => trustValues(store, values.map(wordOf)),
};

// Started, or approved, by what their files say alone.
const sessionsThat = (isMeant: (kind: WaitingValue['kind']) => boolean): TrustSource => ({
  list: async ({ store }) => unconfirmedSessions(store).filter(({ kind }) => isMeant(kind)),
  accept: async ({ store }, values) => {
    // What waits of a Work item is another by now.
    for (const id of await confirmSessions(store, values)) announce(store, id);
  },
});

// Where a Work item is worked on, as a record says that this machine did not write.
const worktrees: TrustSource = {
  list: async ({ store }) => lookAtWorktrees(store),
  accept: async ({ store }, values) => {
    for (const id of await confirmWorktrees(store.layout, values)) announce(store, id);
    lookAtWorktrees(store);
  },
};

/** Changes by file that wait since a program ran that no sandbox held, as what waits for the operator's word. */
const heldSource = {
  list: async ({ store }: WithStore): Promise<WaitingValue[]> =>
    waitingChanges(store).map(asWaiting),
  accept: async ({ store }: WithStore, chosen: readonly WaitingValue[]): Promise<void> => {
    const wanted = new Set(chosen.map(({ key, hash }) => `${key} ${hash}`));
    const meant = waitingChanges(store).filter((change) =>
      wanted.has(`${changeKey(change)} ${change.sha}`),
    );
    await acceptWaiting(store, new Set(meant.map(({ id }) => id)));
  },
};

const asWaiting = (change: WaitingChange): WaitingValue => ({
  key: changeKey(change),
  kind: 'change',
  file: change.file,
  value: change.to,
  trusted_value: change.from,
  hash: change.sha,
  since: change.since,
});

/** By which it is trusted. */
export const changeKey = ({ file, field }: WaitingChange): string => `${file}#${field}`;

/** What can wait, by its kind. */
export const SOURCES: Partial<Record<WaitingValue['kind'], TrustSource>> = {
  setting: settings,
  webhook: webhooks,
  change: heldSource,
  session: sessionsThat((kind) => kind === 'session'),
  approval: sessionsThat((kind) => kind === 'approval'),
  key: keys,
  worktree: worktrees,
};
