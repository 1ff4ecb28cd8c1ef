import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../base/sha256.ts';
import { parseSections, renderSections } from '../front-matter/fenced.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/storable.ts';
import { reviewsDir } from '../layout.ts';
import { changingItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { type Kept, recordKind } from '../reconcile/sidecar-records.ts';
import { ReviewMatter } from '../records/review.ts';
import type { Store } from '../store.ts';

/** A review or a thread, as it is on disk, with the texts of its comments in their order. */
export type StoredReview = Kept<ReviewMatter, { texts: string[] }>;

const reviews = recordKind({
  schema: ReviewMatter,
  path: reviewsDir,
  parts: ({ body }) => ({ texts: parseSections(body).map(({ text }) => text) }),
});

/** What the host tells of one; what is the operator's own is not in it. */
export interface ToldReview {
  matter: Omit<ReviewMatter, 'queued_at' | 'session_id' | 'resolved_at'>;
  texts: string[];
}

/** The reviews that are kept of a Work item's pull requests. Undefined when there is no such Work item. Throws `unreadable_record`. */
export const listReviews = reviews.list;

/**
 * Records what the host tells of all reviews of a pull request. Those that it tells of no more stay, and say so; what an
 * operator decided or wrote stays. Undefined when there is no such Work item.
 */
export const saveReviews = (
  store: Store,
  caseId: string,
  told: { pull: number; reviews: readonly ToldReview[] },
): Promise<StoredReview[] | undefined> =>
  changingItem(store, caseId, async (item) => {
    const kept = new Map(reviews.listIn(store, item).map((one) => [one.matter.id, one]));
    for (const one of told.reviews) {
      await save(store, item, { told: one, kept: kept.get(one.matter.id) });
      kept.delete(one.matter.id);
    }
    for (const one of kept.values()) {
      if (one.matter.pull !== told.pull || one.matter.on_host === false) continue;
      await reviews.editAt(store, one, () => ({ changes: { on_host: false } }));
    }
    return reviews.listIn(store, item);
  });

type ReviewRule = (current: ReviewMatter) => Partial<ReviewMatter> | undefined;

/** Changes one by a rule, in the Work item's turn. Undefined when there is none with that id. */
export const changeReview = (
  store: Store,
  caseId: string,
  id: string,
  rule: ReviewRule,
): Promise<StoredReview | undefined> =>
  changingItem(store, caseId, async (item) => {
    const kept = reviews.listIn(store, item).find(({ matter }) => matter.id === id);
    if (kept === undefined) return undefined;
    await reviews.editAt(store, kept, ({ read }) => {
      const changes = rule(read().matter);
      return changes && { changes };
    });
    return reviews.keptAt(store, kept);
  });

const save = async (
  store: Store,
  item: Item,
  { told, kept }: { told: ToldReview; kept: StoredReview | undefined },
): Promise<void> => {
  const changes = { ...told.matter, on_host: true };
  const body = bodyOf(told);
  if (kept !== undefined) {
    await reviews.editAt(store, kept, ({ source }) => {
      const isSame = isDeepStrictEqual(parseSections(source.body), parseSections(body));
      const eol = source.eol === '\r\n' ? body.replaceAll('\n', '\r\n') : body;
      return { changes, ...(!isSame && { body: eol }) };
    });
    return;
  }
  await reviews.createIn(store, item, renderFrontMatter(changes, body), fileName(told.matter.id));
};

const bodyOf = ({ matter: { comments = [] }, texts }: ToldReview): string => {
  const sections = comments.map(({ author, created_at }, at) => ({
    heading: [author ?? 'unknown', created_at].filter(Boolean).join(', '),
    text: (texts[at] ?? '').replaceAll('\r\n', '\n'),
  }));
  return storable(renderSections(sections));
};

// Who made a thread's id decides what is in it, and file systems may know no case.
const fileName = (id: string): string => {
  const [kind = '', rest = ''] = id.split(/:(.*)/s);
  return `${kind}-${kind === 'thread' ? sha256(rest).slice(0, 16) : rest}.md`;
};
