import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createFile } from '../disk/durable.ts';
import { namesIn } from '../disk/folder.ts';
import { assertOwn } from '../items/changing.ts';
import type { Item } from '../items/item.ts';
import { syncsDir } from '../layout.ts';
import { shortId, timeName } from '../names.ts';
import { type FieldSync, type Sync, SyncMatter } from '../records/sync.ts';
import type { Store } from '../store.ts';
import { checkerOf } from '../text/parse.ts';
import { readRecord } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { parseTexts, renderTexts, SIDES, type SyncTexts } from './sync-texts.ts';

/** The syncs of a Work item that changed or found something, oldest first. Throws `unreadable_record`. */
export const listSyncs = (store: Store, caseId: string): Sync[] | undefined => {
  const item = store.items.byId.get(caseId);
  if (item === undefined) return undefined;
  return namesOf(store, item)
    .flatMap((name) => readIn(store, item, name) ?? [])
    .sort(byAge);
};

const byAge = (a: Sync, b: Sync): number =>
  a.at === b.at ? a.id.localeCompare(b.id) : a.at.localeCompare(b.at);

/**
 * Keeps a sync in the Work item's turn, and answers the id of its record: the one before, when that found the very same
 * in vain.
 */
export const keepSync = async (store: Store, item: Item, sync: SyncMatter): Promise<string> => {
  const last = lastOf(store, item);
  if (last !== undefined && isRepeated(last, sync)) return last.id;
  const name = `${timeName(new Date(sync.at))}-${shortId(sync.id)}.md`;
  const path = join(folderOf(store, item), name);
  const text = renderFrontMatter(matterOf(sync), renderTexts(textsOf(sync)));
  await createFile(store.layout, path, text, { assertMeant: () => assertOwn(store, item) });
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
  const names = namesOf(store, item);
  const second = names.at(-1)?.slice(0, timeName(new Date(0)).length) ?? '';
  return names
    .filter((name) => name.startsWith(second))
    .flatMap((name) => readIn(store, item, name) ?? [])
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

const readIn = (store: Store, item: Item, name: string): Sync | undefined => {
  const { root } = store.layout;
  const record = readRecord(root, join(folderOf(store, item), name), checkerOf(SyncMatter));
  if (record === undefined) return undefined;
  const { matter, source } = record;
  const { id, at, trigger, outcome, prefer, moved_to } = matter;
  const texts = parseTexts(source.body);
  return {
    ...{ id, case_id: item.id, at, trigger, outcome },
    ...(prefer !== undefined && { prefer }),
    ...(moved_to !== undefined && { moved_to }),
    fields: matter.fields.map((one) => (isText(one) ? { ...one, ...texts } : one)),
  };
};

const namesOf = (store: Store, item: Item): string[] => namesIn(folderOf(store, item));

const folderOf = ({ layout: { root } }: Store, { dir }: Item): string => syncsDir(join(root, dir));
