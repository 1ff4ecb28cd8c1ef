import { type IssueCopy, issueCopyOf, writeIssueCopy } from '../codehost/issue-copy.ts';
import { changeLinkOnce, type LinkChange, linkOf } from '../codehost/links.ts';
import { saveSync } from '../codehost/syncs.ts';
import { untilWritten } from '../fs/retry.ts';
import { changeItem } from '../reconcile/change-item.ts';
import { caseOf, type Item } from '../reconcile/item.ts';
import { reconcileWritten } from '../reconcile/reconcile.ts';
import type { IssueLinkMatter } from '../records/link.ts';
import type { SyncMatter } from '../records/sync.ts';
import type { Store } from '../store.ts';
import { type CaseChange, type CaseRule, changeCaseOnce } from './cases.ts';

/** What a sync compares, as it is on disk now. */
export interface SyncState {
  title: string;
  description: string;
  link: IssueLinkMatter;
  base: IssueCopy | undefined;
}

export interface SyncPlan {
  item?: CaseChange;
  link: LinkChange;
  /** The issue that becomes the new base. */
  base?: IssueCopy;
  /** Saved unless nothing had changed. */
  record: SyncMatter;
}

/** The applied plan of a sync, and the id of its record. */
export interface Synced {
  plan: SyncPlan;
  sync_id: string | null;
}

/**
 * Applies a rule to a Work item, its link and the issue as last synced, under the lock of the Work item. If one of the files
 * is edited meanwhile, the rule runs again. The base is written last, so the next sync finds and completes what a crash
 * interrupted. Undefined if there is no such link.
 */
export const syncLink = (
  store: Store,
  caseId: string,
  rule: (standing: SyncState) => SyncPlan,
): Promise<Synced | undefined> =>
  changeItem(store, caseId, async (item) => {
    let plan: SyncPlan | undefined;
    await untilWritten(item.dir, async () => {
      const now = syncStateOf(store, item);
      plan = now && rule(now.standing);
      return now === undefined || plan === undefined || applyPlan(store, item, { ...now, plan });
    });
    if (plan === undefined) return undefined;
    const isNews = plan.record.outcome !== 'unchanged';
    const sync_id = isNews ? await saveSync(store, item, plan.record) : null;
    if (plan.base !== undefined) await writeIssueCopy(store, item, plan.base);
    return { plan, sync_id };
  });

interface Now {
  standing: SyncState;
  /** Hash of link.md. */
  sha: string;
}

const syncStateOf = (store: Store, item: Item): Now | undefined => {
  const { issue: link, sha } = linkOf(store, item) ?? {};
  if (link === undefined || sha === undefined) return undefined;
  const { matter, description } = caseOf(item);
  const base = issueCopyOf(store, item);
  return { standing: { title: matter.title, description, link, base }, sha };
};

// Returns false if one of the two files was saved by another program since.
const applyPlan = async (
  store: Store,
  item: Item,
  { plan, standing, sha }: Now & { plan: SyncPlan },
): Promise<boolean> => {
  let isStill = true;
  const editCase: CaseRule = ({ title, description }) => {
    isStill = title === standing.title && description === standing.description;
    return isStill ? plan.item : undefined;
  };
  const isWritten = plan.item === undefined || (await changeCaseOnce(store, item, editCase));
  if (!isWritten || !isStill) return false;
  const done = await changeLinkOnce(store, item, (current) => {
    isStill = current.sha === sha;
    return isStill ? plan.link : undefined;
  });
  await reconcileWritten(store, item);
  return isStill && done !== false;
};
