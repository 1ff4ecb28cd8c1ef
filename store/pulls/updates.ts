import { basename, dirname, join } from 'node:path';
import { createFile } from '../disk/durable.ts';
import { namesIn } from '../disk/folder.ts';
import { assertOwn, changing } from '../items/changing.ts';
import { pullUpdatesDir } from '../layout.ts';
import { etagOf, shortId, timeName } from '../names.ts';
import { BodyUpdateMatter } from '../records/body-update.ts';
import type { Store } from '../store.ts';
import { bodyOfText, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { editRecord, readRecord, readRegularFile } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { storable } from '../text/storable.ts';

/** A change of a published body, as it is on disk: edited by hand, it is what is published. */
export interface KeptUpdate {
  case_id: string;
  path: string;
  matter: BodyUpdateMatter;
  body: string;
  /** The body on the host that it was made for; undefined when its file is gone. */
  base: string | undefined;
  etag: string;
}

/** All of a Work item, oldest first. Undefined when there is no such Work item. Throws `unreadable_record`. */
export const listUpdates = (store: Store, caseId: string): KeptUpdate[] | undefined => {
  const item = store.items.byId.get(caseId);
  if (item === undefined) return undefined;
  const folder = pullUpdatesDir(join(store.layout.root, item.dir));
  return namesIn(folder)
    .flatMap((name) => readIn(store, caseId, join(folder, name)) ?? [])
    .sort((a, b) => a.matter.created_at.localeCompare(b.matter.created_at));
};

/** Queues one, with the body that it is to replace beside it. Undefined when there is no such Work item. */
export const createUpdate = (
  store: Store,
  caseId: string,
  { matter, body, base }: { matter: BodyUpdateMatter; body: string; base: string },
): Promise<KeptUpdate | undefined> =>
  changing(store, caseId, async (item) => {
    const name = `${timeName(new Date(matter.created_at))}-${shortId(matter.id)}.md`;
    const path = join(pullUpdatesDir(join(store.layout.root, item.dir)), name);
    const assertMeant = (): void => assertOwn(store, item);
    await createFile(store.layout, baseFile(path), base, { assertMeant });
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await createFile(store.layout, path, text, { assertMeant });
    return readIn(store, caseId, path);
  });

/** Notes that it is published. Undefined when it is gone. */
export const notePublished = (
  store: Store,
  { case_id, path }: KeptUpdate,
): Promise<KeptUpdate | undefined> =>
  changing(store, case_id, async () => {
    const published_at = store.clock().toISOString();
    await editRecord(store.layout, path, () => ({
      changes: { status: 'published', published_at },
    }));
    return readIn(store, case_id, path);
  });

const readIn = (store: Store, case_id: string, path: string): KeptUpdate | undefined => {
  const { root } = store.layout;
  const record = readRecord(root, path, checkerOf(BodyUpdateMatter));
  if (record === undefined) return undefined;
  const { matter, source, sha } = record;
  const base = readRegularFile(root, baseFile(path))?.toString('utf8');
  return { case_id, path, matter, body: textOfBody(source), base, etag: etagOf(sha) };
};

// No Markdown, so that nobody takes it for a record.
const baseFile = (path: string): string => join(dirname(path), `${basename(path, '.md')}.base.txt`);
