import { StoreError } from '../base/errors.ts';
import { etagOf } from '../base/names.ts';
import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/storable.ts';
import { pullDraftFile } from '../layout.ts';
import { changingItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { type Kept, type Rule, recordKind } from '../reconcile/sidecar-records.ts';
import { PullDraftMatter } from '../records/pull-request.ts';
import type { Store } from '../store.ts';

/** What is to be proposed, as it was composed and perhaps edited by hand since. */
export type StoredPullDraft = Kept<PullDraftMatter, { body: string }>;

const drafts = recordKind({
  schema: PullDraftMatter,
  path: pullDraftFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** Undefined where nothing was composed yet. Throws `unreadable_record`. */
export const readPullDraft = drafts.read;

/**
 * Writes the draft anew; the one before is kept under `.dossier/undo`. `seen` is the entity tag that it was made from, null
 * where there was none: `file_busy` when it is another by now. Undefined when there is no such Work item.
 */
export const savePullDraft = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<StoredPullDraft, 'matter' | 'body'>,
  seen?: string | null,
): Promise<StoredPullDraft | undefined> =>
  changingItem(store, caseId, async (item) => {
    const bodyIn = (eol: '\n' | '\r\n') => bodyOfText(storable(body), eol);
    const rule: Rule<StoredPullDraft> = ({ sha, source }) => {
      if (seen !== undefined && seen !== etagOf(sha)) throw edited(item);
      return { changes: { ...matter }, body: bodyIn(source.eol) };
    };
    await drafts.saveIn(store, item, rule, renderFrontMatter({ ...matter }, bodyIn('\n')));
    return drafts.readIn(store, item);
  });

const edited = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir}/pr/draft.md was edited this moment; try again`);
