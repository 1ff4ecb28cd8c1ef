import { basename, dirname, join } from 'node:path';
import { timedName } from '../base/names.ts';
import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/text.ts';
import { pullUpdatesDir } from '../layout.ts';
import { changeItem, createItemFile } from '../reconcile/change-item.ts';
import { type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { BodyUpdateMatter } from '../records/body-update.ts';
import type { Store } from '../store.ts';

/**
 * A queued change of a pull request's body, which may be edited by hand. `base` is the body on the host that it replaces;
 * undefined if its file is gone.
 */
export type StoredUpdate = Update & { base: string | undefined };

type Update = StoredRecord<BodyUpdateMatter, { body: string }>;

const updates = sidecarRecords({
  schema: BodyUpdateMatter,
  path: pullUpdatesDir,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** All updates of a Work item, oldest first; undefined if there is no such Work item. Throws `unreadable_record`. */
export const listUpdates = (store: Store, caseId: string): StoredUpdate[] | undefined =>
  updates
    .list(store, caseId)
    ?.map((update) => withBase(store, update))
    .sort((a, b) => a.matter.created_at.localeCompare(b.matter.created_at));

/** Queues an update, with the body that it replaces in a file beside it. Undefined if there is no such Work item. */
export const createUpdate = (
  store: Store,
  caseId: string,
  { matter, body, base }: { matter: BodyUpdateMatter; body: string; base: string },
): Promise<StoredUpdate | undefined> =>
  changeItem(store, caseId, async (item) => {
    const name = timedName(matter.created_at, matter.id);
    await createItemFile(store, item, baseFile(updates.at(store, item, name).path), base);
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await updates.createIn(store, item, text, name);
    const made = updates.readIn(store, item, name);
    return made && withBase(store, made);
  });

/** Marks an update as published; undefined if it is gone. */
export const markPublished = (
  store: Store,
  kept: StoredUpdate,
): Promise<StoredUpdate | undefined> =>
  changeItem(store, kept.case_id, async () => {
    const published_at = store.clock().toISOString();
    await updates.editAt(store, kept, () => ({ changes: { status: 'published', published_at } }));
    const noted = updates.keptAt(store, kept);
    return noted && withBase(store, noted);
  });

const withBase = ({ layout }: Store, update: Update): StoredUpdate => ({
  ...update,
  base: readRegularFile(layout.root, baseFile(update.path))?.toString('utf8'),
});

// Not a Markdown file, so that it is not read as a record.
const baseFile = (path: string): string => join(dirname(path), `${basename(path, '.md')}.base.txt`);
