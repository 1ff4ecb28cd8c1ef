import { isDeepStrictEqual } from 'node:util';
import { timedName, timeName } from '../base/names.ts';
import { parseSections, renderSections } from '../front-matter/body.ts';
import { recordNames } from '../front-matter/folder.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/text.ts';
import { syncsDir } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { type FieldSync, type Sync, SyncMatter } from '../records/sync.ts';
import type { Store } from '../store.ts';

const syncs = sidecarRecords({
  schema: SyncMatter,
  path: syncsDir,
  parts: ({ body }) => ({ texts: parseTexts(body) }),
});

/** The syncs of a Work item that found a change, oldest first. Throws `unreadable_record`. */
export const listSyncs = (store: Store, caseId: string): Sync[] | undefined =>
  syncs.list(store, caseId)?.map(servedSync).sort(byAge);

const byAge = (a: Sync, b: Sync): number =>
  a.at === b.at ? a.id.localeCompare(b.id) : a.at.localeCompare(b.at);

/**
 * Saves a sync under the lock of the Work item and returns the id of its record. A sync that repeats an unresolved outcome
 * reuses the last record.
 */
export const saveSync = async (store: Store, item: Item, sync: SyncMatter): Promise<string> => {
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

// File names have a resolution of one second, so all records of the last second are read.
const lastOf = (store: Store, item: Item): Sync | undefined => {
  const names = recordNames(syncs.at(store, item).path);
  const second = names.at(-1)?.slice(0, timeName(new Date(0)).length) ?? '';
  return names
    .filter((name) => name.startsWith(second))
    .flatMap((name) => syncs.readIn(store, item, name) ?? [])
    .map(servedSync)
    .sort(byAge)
    .at(-1);
};

// A description can exceed the limit of front matter, so its texts go into the body.
const matterOf = (sync: SyncMatter): Record<string, unknown> => ({
  ...sync,
  fields: sync.fields.map((one) => (isText(one) ? withoutTexts(one) : one)),
});

const isText = ({ field }: FieldSync): boolean => field === 'description';

const withoutTexts = ({ field, outcome }: FieldSync): FieldSync => ({ field, outcome });

const textsOf = ({ fields }: SyncMatter): SyncTexts => {
  const found = fields.find(isText) ?? {};
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const text = (found as SyncTexts)[side];
      return text === undefined ? [] : [[side, text]];
    }),
  );
};

const servedSync = ({
  case_id,
  matter,
  texts,
}: StoredRecord<SyncMatter, { texts: SyncTexts }>): Sync => {
  const { id, at, trigger, outcome, prefer, moved_to } = matter;
  return {
    id,
    case_id,
    at,
    trigger,
    outcome,
    ...(prefer !== undefined && { prefer }),
    ...(moved_to !== undefined && { moved_to }),
    fields: matter.fields.map((one) => (isText(one) ? { ...one, ...texts } : one)),
  };
};

const SIDES = ['base', 'here', 'host'] as const;
export type Side = (typeof SIDES)[number];

/** A description in the last synced copy, here, and on the host. */
export type SyncTexts = Partial<Record<Side, string>>;

/** The body of a sync's record: each text under a heading, in a fence longer than any in the text. */
export const renderTexts = (texts: SyncTexts): string => {
  const { base, ...others } = texts;
  const { host, ...ours } = others;
  const all = [texts, others, ours].map(sectionsOf);
  return storable(all.find((text) => Buffer.byteLength(text) <= MOST) ?? all.at(-1) ?? '');
};

// Texts that do not fit are left out: the base is in issue.md, the host's text on the host.
const MOST = 1_000_000;

const HEADING = 'Description, ';

const sectionsOf = (texts: SyncTexts): string =>
  renderSections(
    SIDES.flatMap((side) => {
      const text = texts[side];
      return text === undefined ? [] : [{ heading: `${HEADING}${side}`, text }];
    }),
  );

/** The texts in the body of a sync's record. */
export const parseTexts = (body: string): SyncTexts => {
  const sections = parseSections(body);
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const found = sections.find(({ heading }) => heading === `${HEADING}${side}`);
      return found === undefined ? [] : [[side, found.text]];
    }),
  );
};
