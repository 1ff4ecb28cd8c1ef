import { counted } from '../../../base/counted.ts';
import type { Store } from '../../../store/store.ts';
import { tellLinks } from './apply-link.ts';
import { tellPulls } from './apply-pull.ts';
import type { HostNews } from './host-news.ts';

/** Tells the records of those Work items that a delivery is about, which memory knows. Done again it changes nothing. */
export const tellItems = async (
  store: Store,
  told: HostNews | undefined,
): Promise<{ case_ids: string[]; note: string }> => {
  if (told === undefined) return { case_ids: [], note: NOBODY };
  const pulls = await tellPulls(store, told);
  const links = await tellLinks(store, told);
  const case_ids = [...new Set([...pulls.told, ...links.told])];
  const older = new Set([...pulls.older, ...links.older]).size;
  if (case_ids.length > 0)
    return { case_ids, note: `Told: ${counted(case_ids.length, 'Work item')}.` };
  return { case_ids, note: older > 0 ? OLDER : NOBODY };
};

const NOBODY = 'It tells of nothing that a Work item is linked to.';
const OLDER = 'It is older than what is known here; nothing was done.';
