import { type IssueCopy, issueCopyOf, writeIssueCopy } from '../codehost/issue-copy.ts';
import { changeLinkOnce, type LinkChange, linkOf } from '../codehost/links.ts';
import { keepSync } from '../codehost/syncs.ts';
import { untilDone } from '../fs/until-done.ts';
import { changingItem } from '../reconcile/change-item.ts';
import { caseOf, type Item } from '../reconcile/item.ts';
import { reconcileWritten } from '../reconcile/reconcile.ts';
import type { IssueLinkMatter } from '../records/link.ts';
import type { SyncMatter } from '../records/sync.ts';
import type { Store } from '../store.ts';
import { type CaseChange, type CaseRule, changeCaseOnce } from './cases.ts';

/** What is on disk this moment, of all that a sync compares. */
export interface SyncState {
  title: string;
  description: string;
  link: IssueLinkMatter;
  base: IssueCopy | undefined;
}

export interface SyncPlan {
  item?: CaseChange;
  link: LinkChange;
  /** The issue as it is the base from now on. */
  base?: IssueCopy;
  /** Kept where it tells of more than that nothing had changed. */
  record: SyncMatter;
}

/** What a sync came to: the plan that was carried out, and its record. */
export interface Synced {
  plan: SyncPlan;
  sync_id: string | null;
}

/**
 * Carries out what a rule makes of a Work item, its link and the issue as last synced, in the Work item's turn. When
 * somebody edits one of them meanwhile, the rule runs again on what they saved. The base moves last: what a crash leaves
 * half done is found, and gone on with, by the next sync. Undefined when there is no such link.
 */
export const syncLink = (
  store: Store,
  caseId: string,
  rule: (standing: SyncState) => SyncPlan,
): Promise<Synced | undefined> =>
  changingItem(store, caseId, async (item) => {
    let plan: SyncPlan | undefined;
    await untilDone(item.dir, async () => {
      const now = standingOf(store, item);
      plan = now && rule(now.standing);
      return now === undefined || plan === undefined || carryOut(store, item, { ...now, plan });
    });
    if (plan === undefined) return undefined;
    const isNews = plan.record.outcome !== 'unchanged';
    const sync_id = isNews ? await keepSync(store, item, plan.record) : null;
    if (plan.base !== undefined) await writeIssueCopy(store, item, plan.base);
    return { plan, sync_id };
  });

interface Now {
  standing: SyncState;
  /** Of link.md. */
  sha: string;
}

const standingOf = (store: Store, item: Item): Now | undefined => {
  const { issue: link, sha } = linkOf(store, item) ?? {};
  if (link === undefined || sha === undefined) return undefined;
  const { matter, description } = caseOf(item);
  const base = issueCopyOf(store, item);
  return { standing: { title: matter.title, description, link, base }, sha };
};

// False when somebody has saved one of the two since.
const carryOut = async (
  store: Store,
  item: Item,
  { plan, standing, sha }: Now & { plan: SyncPlan },
): Promise<boolean> => {
  let isStill = true;
  const changeItem: CaseRule = ({ title, description }) => {
    isStill = title === standing.title && description === standing.description;
    return isStill ? plan.item : undefined;
  };
  const isWritten = plan.item === undefined || (await changeCaseOnce(store, item, changeItem));
  if (!isWritten || !isStill) return false;
  const done = await changeLinkOnce(store, item, (current) => {
    isStill = current.sha === sha;
    return isStill ? plan.link : undefined;
  });
  await reconcileWritten(store, item);
  return isStill && done !== false;
};
