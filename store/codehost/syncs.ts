import { isDeepStrictEqual } from 'node:util';
import { timedName, timeName } from '../base/names.ts';
import { parseSections, renderSections } from '../front-matter/fenced.ts';
import { recordNames } from '../front-matter/folder.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/storable.ts';
import { syncsDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { type Kept, recordKind } from '../reconcile/sidecar-records.ts';
import { type FieldSync, type Sync, SyncMatter } from '../records/sync.ts';
import type { Store } from '../store.ts';

const syncs = recordKind({
  schema: SyncMatter,
  path: syncsDir,
  parts: ({ body }) => ({ texts: parseTexts(body) }),
});

/** The syncs of a Work item that changed or found something, oldest first. Throws `unreadable_record`. */
export const listSyncs = (store: Store, caseId: string): Sync[] | undefined =>
  syncs.list(store, caseId)?.map(served).sort(byAge);

const byAge = (a: Sync, b: Sync): number =>
  a.at === b.at ? a.id.localeCompare(b.id) : a.at.localeCompare(b.at);

/**
 * Keeps a sync in the Work item's turn, and answers the id of its record: the one before, when that found the very same
 * in vain.
 */
export const keepSync = async (store: Store, item: Item, sync: SyncMatter): Promise<string> => {
  const last = lastOf(store, item);
  if (last !== undefined && isRepeated(last, sync)) return last.id;
  const text = renderFrontMatter(matterOf(sync), renderTexts(textsOf(sync)));
  await syncs.createIn(store, item, text, timedName(sync.at, sync.id));
  return sync.id;
};

const isRepeated = (last: Sync, { outcome, moved_to, fields }: SyncMatter): boolean =>
  LASTING.has(outcome) &&
  outcome === last.outcome &&
  moved_to === last.moved_to &&
  isDeepStrictEqual(fields, last.fields);

const LASTING: ReadonlySet<string> = new Set(['conflict', 'moved', 'missing']);

// Names know no part of a second: of those of the last one each is read.
const lastOf = (store: Store, item: Item): Sync | undefined => {
  const names = recordNames(syncs.at(store, item).path);
  const second = names.at(-1)?.slice(0, timeName(new Date(0)).length) ?? '';
  return names
    .filter((name) => name.startsWith(second))
    .flatMap((name) => syncs.readIn(store, item, name) ?? [])
    .map(served)
    .sort(byAge)
    .at(-1);
};

// A description is longer than front matter may be: its texts go into the body.
const matterOf = (sync: SyncMatter): Record<string, unknown> => ({
  ...sync,
  fields: sync.fields.map((one) => (isText(one) ? without(one) : one)),
});

const isText = ({ field }: FieldSync): boolean => field === 'description';

const without = ({ field, outcome }: FieldSync): FieldSync => ({ field, outcome });

const textsOf = ({ fields }: SyncMatter): SyncTexts => {
  const found = fields.find(isText) ?? {};
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const text = (found as SyncTexts)[side];
      return text === undefined ? [] : [[side, text]];
    }),
  );
};

const served = ({ case_id, matter, texts }: Kept<SyncMatter, { texts: SyncTexts }>): Sync => {
  const { id, at, trigger, outcome, prefer, moved_to } = matter;
  return {
    ...{ id, case_id, at, trigger, outcome },
    ...(prefer !== undefined && { prefer }),
    ...(moved_to !== undefined && { moved_to }),
    fields: matter.fields.map((one) => (isText(one) ? { ...one, ...texts } : one)),
  };
};

export const SIDES = ['base', 'here', 'host'] as const;
export type Side = (typeof SIDES)[number];

/** A description as it was in the last synced copy, here and on the host. */
export type SyncTexts = Partial<Record<Side, string>>;

/** The body of a sync's record: each text under a heading, between fences that nothing in it can end. */
export const renderTexts = (texts: SyncTexts): string => {
  const { base, ...others } = texts;
  const { host, ...ours } = others;
  const all = [texts, others, ours].map(sectionsOf);
  return storable(all.find((text) => Buffer.byteLength(text) <= MOST) ?? all.at(-1) ?? '');
};

// What does not fit into one record stands elsewhere: the base in issue.md, what is on the host there.
const MOST = 1_000_000;

const HEADING = 'Description, ';

const sectionsOf = (texts: SyncTexts): string =>
  renderSections(
    SIDES.flatMap((side) => {
      const text = texts[side];
      return text === undefined ? [] : [{ heading: `${HEADING}${side}`, text }];
    }),
  );

/** The texts of such a body. */
export const parseTexts = (body: string): SyncTexts => {
  const sections = parseSections(body);
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const found = sections.find(({ heading }) => heading === `${HEADING}${side}`);
      return found === undefined ? [] : [[side, found.text]];
    }),
  );
};
