import { join } from 'node:path';
import { createFile } from '../disk/durable.ts';
import { StoreError } from '../errors.ts';
import { assertOwn, changing, untilDone } from '../items/changing.ts';
import type { Item } from '../items/item.ts';
import { pullDraftFile } from '../layout.ts';
import { etagOf } from '../names.ts';
import { PullDraftMatter } from '../records/pull-request.ts';
import type { Store } from '../store.ts';
import { bodyOfText, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { editRecord, readRecord } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';
import { storable } from '../text/storable.ts';

/** What is to be proposed, as it was composed and perhaps edited by hand since. */
export interface KeptPullDraft {
  matter: PullDraftMatter;
  body: string;
  etag: string;
}

/** Undefined where nothing was composed yet. Throws `unreadable_record`. */
export const readPullDraft = (store: Store, caseId: string): KeptPullDraft | undefined => {
  const item = store.items.byId.get(caseId);
  return item && readIn(store, item);
};

/**
 * Writes the draft anew; the one before is kept under `.dossier/undo`. `seen` is the entity tag that it was made from, null
 * where there was none: `file_busy` when it is another by now. Undefined when there is no such Work item.
 */
export const savePullDraft = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<KeptPullDraft, 'matter' | 'body'>,
  seen?: string | null,
): Promise<KeptPullDraft | undefined> =>
  changing(store, caseId, async (item) => {
    const path = pathOf(store, item);
    const text = renderFrontMatter({ ...matter }, bodyOfText(storable(body), '\n'));
    await untilDone(`${item.dir}/pr/draft.md`, async () => {
      const isThere = await editRecord(store.layout, path, ({ sha, source }) => {
        if (seen !== undefined && seen !== etagOf(sha)) throw edited(item);
        return { changes: { ...matter }, body: bodyOfText(storable(body), source.eol) };
      });
      const assertMeant = () => assertOwn(store, item);
      return isThere || createFile(store.layout, path, text, { assertMeant });
    });
    return readIn(store, item);
  });

const edited = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir}/pr/draft.md was edited this moment; try again`);

const readIn = (store: Store, item: Item): KeptPullDraft | undefined => {
  const record = readRecord(store.layout.root, pathOf(store, item), checkerOf(PullDraftMatter));
  if (record === undefined) return undefined;
  const { matter, source, sha } = record;
  return { matter, body: textOfBody(source), etag: etagOf(sha) };
};

const pathOf = ({ layout }: Store, { dir }: Item): string => pullDraftFile(join(layout.root, dir));
