import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../../base/sha256.ts';
import { createFile } from '../disk/durable.ts';
import { namesIn } from '../disk/folder.ts';
import { assertOwn, changing } from '../items/changing.ts';
import type { Item } from '../items/item.ts';
import { reviewsDir } from '../layout.ts';
import { ReviewMatter } from '../records/review.ts';
import type { Store } from '../store.ts';
import { parseSections, renderSections } from '../text/fenced.ts';
import { checkerOf } from '../text/parse.ts';
import { type Edit, editRecord, explained, readRecord } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { storable } from '../text/storable.ts';

/** A review or a thread, as it is on disk. */
export interface KeptReview {
  path: string;
  matter: ReviewMatter;
  /** Of its comments, in their order. */
  texts: string[];
}

/** What the host tells of one; what is the operator's own is not in it. */
export interface ToldReview {
  matter: Omit<ReviewMatter, 'queued_at' | 'session_id' | 'resolved_at'>;
  texts: string[];
}

/** The reviews that are kept of a Work item's pull requests. Undefined when there is no such Work item. Throws `unreadable_record`. */
export const listReviews = (store: Store, caseId: string): KeptReview[] | undefined => {
  const item = store.items.byId.get(caseId);
  return item && reviewsIn(store, item);
};

/**
 * Records what the host tells of all reviews of a pull request. Those that it tells of no more stay, and say so; what an
 * operator decided or wrote stays. Undefined when there is no such Work item.
 */
export const saveReviews = (
  store: Store,
  caseId: string,
  { pull, reviews }: { pull: number; reviews: readonly ToldReview[] },
): Promise<KeptReview[] | undefined> =>
  changing(store, caseId, async (item) => {
    const kept = new Map(reviewsIn(store, item).map((one) => [one.matter.id, one]));
    for (const told of reviews) {
      await save(store, item, { told, kept: kept.get(told.matter.id) });
      kept.delete(told.matter.id);
    }
    for (const { path, matter } of kept.values()) {
      if (matter.pull !== pull || matter.on_host === false) continue;
      await editRecord(store.layout, path, () => ({ changes: { on_host: false } }));
    }
    return reviewsIn(store, item);
  });

type ReviewRule = (current: ReviewMatter) => Partial<ReviewMatter> | undefined;

/** Changes one by a rule, in the Work item's turn. Undefined when there is none with that id. */
export const changeReview = (
  store: Store,
  caseId: string,
  id: string,
  rule: ReviewRule,
): Promise<KeptReview | undefined> =>
  changing(store, caseId, async (item) => {
    const find = () => reviewsIn(store, item).find(({ matter }) => matter.id === id);
    const kept = find();
    if (kept === undefined) return undefined;
    await editRecord(store.layout, kept.path, ({ source }) => {
      const matter = explained(nameOf(store, kept.path), () =>
        checkerOf(ReviewMatter)(source.data, source),
      );
      const changes = rule(matter);
      return changes && { changes };
    });
    return find();
  });

const save = async (
  store: Store,
  item: Item,
  { told, kept }: { told: ToldReview; kept: KeptReview | undefined },
): Promise<void> => {
  const changes = { ...told.matter, on_host: true };
  const body = bodyOf(told);
  if (kept !== undefined) {
    await editRecord(store.layout, kept.path, ({ source }): Edit => {
      const isSame = isDeepStrictEqual(parseSections(source.body), parseSections(body));
      const eol = source.eol === '\r\n' ? body.replaceAll('\n', '\r\n') : body;
      return { changes, ...(!isSame && { body: eol }) };
    });
    return;
  }
  const path = join(folderOf(store, item), fileName(told.matter.id));
  const assertMeant = (): void => assertOwn(store, item);
  await createFile(store.layout, path, renderFrontMatter(changes, body), { assertMeant });
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

const reviewsIn = (store: Store, item: Item): KeptReview[] => {
  const folder = folderOf(store, item);
  return namesIn(folder).flatMap((name) => readIn(store, join(folder, name)) ?? []);
};

const readIn = (store: Store, path: string): KeptReview | undefined => {
  const record = readRecord(store.layout.root, path, checkerOf(ReviewMatter));
  if (record === undefined) return undefined;
  const { matter, source } = record;
  return { path, matter, texts: parseSections(source.body).map(({ text }) => text) };
};

const nameOf = ({ layout: { root } }: Store, path: string): string => path.slice(root.length + 1);

const folderOf = ({ layout: { root } }: Store, { dir }: Item): string =>
  reviewsDir(join(root, dir));
