import { unconfirmedSessions } from '../../../store/sessions/unconfirmed.ts';
import { plain, trustCommandFor } from '../../../store/settings/trust/waiting.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithLog } from '../../log.ts';

/** Logs at the start which sessions and plans wait. Settings, receivers and worktrees are reported as problems of files. */
export const tellUnconfirmed = ({ store, log }: WithLog & WithStore): void => {
  const all = unconfirmedSessions(store);
  if (all.length === 0) return;
  const waiting = all.map(({ kind, key, title = '' }) => `${kind} ${key} ${plain(title)}`);
  const command = trustCommandFor(store.layout);
  log.warn({ waiting }, `Sessions started or plans approved elsewhere wait: run ${command}`);
};
