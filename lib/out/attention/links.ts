import { linkSeen } from '../../../store/links/link-index.ts';
import type { WithStore } from '../../../store/store.ts';
import type { AboutCase, AttentionEntry } from './entry.ts';

/** An issue that changed here and on the host, as the last sync found it. */
export const ofLink = ({ store }: WithStore, { id }: AboutCase): AttentionEntry[] => {
  const { value, written_at } = linkSeen(store, id) ?? {};
  if (value?.issue?.status !== 'conflict') return [];
  const { repository, number } = value.issue;
  return [
    {
      ...{ id: `sync/${id}/${repository}#${number}`, kind: 'sync' },
      since: new Date(written_at ?? 0).toISOString(),
      message: `${repository}#${number} changed here and on the host. Prefer what is here, as this call does, or with "remote" what is there.`,
      answer: { method: 'POST', path: `/api/cases/${id}/github/sync`, body: { prefer: 'local' } },
    },
  ];
};
