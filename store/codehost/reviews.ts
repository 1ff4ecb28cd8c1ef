import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../base/sha256.ts';
import { parseSections, renderSections } from '../front-matter/body.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/text.ts';
import { reviewsDir } from '../layout.ts';
import { changeItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { ReviewMatter } from '../records/review.ts';
import type { Store } from '../store.ts';

/** A stored review or review thread, with the texts of its comments in order. */
export type StoredReview = StoredRecord<ReviewMatter, { texts: string[] }>;

const reviews = sidecarRecords({
  schema: ReviewMatter,
  path: reviewsDir,
  parts: ({ body }) => ({ texts: parseSections(body).map(({ text }) => text) }),
});

/** A review as fetched from the host, without the operator's own fields. */
export interface FetchedReview {
  matter: Omit<
    ReviewMatter,
    'queued_at' | 'session_id' | 'told_sha256' | 'told_others_sha256' | 'resolved_at'
  >;
  texts: string[];
}

/** The stored reviews of a Work item's pull requests; undefined if there is no such Work item. Throws `unreadable_record`. */
export const listReviews = reviews.list;

/**
 * Saves the reviews of a pull request as fetched from the host. Reviews that are gone there stay, marked `on_host: false`;
 * the operator's own fields stay. `isUnread`: which ones the host may have though they were not fetched, by default none.
 * Undefined if there is no such Work item.
 */
export const saveReviews = (
  store: Store,
  caseId: string,
  told: {
    pull: number;
    reviews: readonly FetchedReview[];
    isUnread?: (kept: ReviewMatter) => boolean;
  },
): Promise<StoredReview[] | undefined> =>
  changeItem(store, caseId, async (item) => {
    const kept = new Map(reviews.listIn(store, item).map((one) => [one.matter.id, one]));
    for (const one of told.reviews) {
      await saveReview(store, item, { told: one, kept: kept.get(one.matter.id) });
      kept.delete(one.matter.id);
    }
    const isGone = ({ matter }: StoredReview): boolean =>
      told.isUnread?.(matter) !== true && matter.pull === told.pull && matter.on_host !== false;
    for (const one of [...kept.values()].filter(isGone))
      await reviews.editAt(store, one, () => ({ changes: { on_host: false } }));
    return reviews.listIn(store, item);
  });

type ReviewRule = (current: ReviewMatter) => Partial<ReviewMatter> | undefined;

/** Applies a rule to a review, under the lock of the Work item; undefined if there is none with that id. */
export const changeReview = (
  store: Store,
  caseId: string,
  id: string,
  rule: ReviewRule,
): Promise<StoredReview | undefined> =>
  changeItem(store, caseId, async (item) => {
    const kept = reviews.listIn(store, item).find(({ matter }) => matter.id === id);
    if (kept === undefined) return undefined;
    await reviews.editAt(store, kept, ({ read }) => {
      const changes = rule(read().matter);
      return changes && { changes };
    });
    return reviews.keptAt(store, kept);
  });

const saveReview = async (
  store: Store,
  item: Item,
  { told, kept }: { told: FetchedReview; kept: StoredReview | undefined },
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

const bodyOf = ({ matter: { comments = [] }, texts }: FetchedReview): string => {
  const sections = comments.map(({ author, created_at }, at) => ({
    heading: [author ?? 'unknown', created_at].filter(Boolean).join(', '),
    text: (texts[at] ?? '').replaceAll('\r\n', '\n'),
  }));
  return storable(renderSections(sections));
};

// The host chooses thread ids, and file systems may be case-insensitive, so the name is a hash.
const fileName = (id: string): string => {
  const [kind = '', rest = ''] = id.split(/:(.*)/s);
  return `${kind}-${kind === 'thread' ? sha256(rest).slice(0, 16) : rest}.md`;
};
