import type { WaitingValue } from '../../../store/records/trust.ts';
import { refreshGlobals, refreshTrust, waitingSettings } from '../../../store/settings/globals.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { announce } from '../../../store/store.ts';
import { addToBook, trustLine } from '../../../store/trust/book.ts';
import { waitingSettingValues } from '../../../store/trust/waiting.ts';
import { waitingRegistrations } from '../../../store/webhooks.ts';
import { heldSource } from '../gate/held-source.ts';
import type { WithReceivers } from './receivers.ts';

/** A kind of things that wait for the operator's word. */
interface TrustSource {
  /** What of it waits now. */
  list(service: WithReceivers & WithStore): Promise<WaitingValue[]>;
  /** Makes these hold, of those that `list` answered a moment ago; on disk when it resolves. */
  accept(service: WithReceivers & WithStore, values: readonly WaitingValue[]): Promise<void>;
}

const settings: TrustSource = {
  list: async ({ store: { layout, globals }, dispatcher }) => {
    await refreshGlobals(layout, globals);
    // What was found changed here is found so by nobody else.
    dispatcher.changed();
    return waitingSettingValues(layout, {
      waiting: waitingSettings(globals),
      written_at: globals.settings?.written_at ?? 0,
    });
  },
  accept: async ({ store: { layout, globals } }, values) => {
    addToBook(layout, globals.book, values.map(lineOf));
    refreshTrust(layout, globals);
  },
};

const webhooks: TrustSource = {
  list: async ({ store }) => waitingRegistrations(store),
  accept: async ({ store, dispatcher }, values) => {
    addToBook(store.layout, store.globals.book, values.map(lineOf));
    for (const { key } of values) announceScope(store, key);
    dispatcher.changed();
  },
};

// Whoever follows a Work item's registrations looks at them again.
const announceScope = (store: Store, key: string): void => {
  const [, id] = /^cases\/([^/]+)\//.exec(key) ?? [];
  if (id !== undefined) announce(store, id);
};

const lineOf = ({ key, value }: WaitingValue) => trustLine(key, value ?? undefined);

/** What can wait, by its kind. */
export const SOURCES: Partial<Record<WaitingValue['kind'], TrustSource>> = {
  setting: settings,
  webhook: webhooks,
  change: heldSource,
};
