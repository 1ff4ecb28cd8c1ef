import {
  acceptWaiting,
  type WaitingChange,
  waitingChanges,
} from '../../../store/pending/pending.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import type { WithStore } from '../../../store/store.ts';

/** Changes by file that wait since a program ran that no sandbox held, as what waits for the operator's word. */
export const heldSource = {
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
