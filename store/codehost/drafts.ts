import { StoreError } from '../base/errors.ts';
import { etagOf } from '../base/names.ts';
import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { storable } from '../front-matter/text.ts';
import { pullDraftFile } from '../layout.ts';
import { changeItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { type Rule, type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { PullDraftMatter } from '../records/pull-request.ts';
import type { Store } from '../store.ts';

/** The draft of a pull request, as composed and perhaps edited by hand. */
export type StoredPullDraft = StoredRecord<PullDraftMatter, { body: string }>;

const drafts = sidecarRecords({
  schema: PullDraftMatter,
  path: pullDraftFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** Undefined if there is no draft. Throws `unreadable_record`. */
export const readPullDraft = drafts.read;

/**
 * Writes the draft; the previous one stays under `.dossier/undo`. `seen` is the entity tag of the draft that this one was
 * made from, null for none; throws `file_busy` if it changed. Undefined if there is no such Work item.
 */
export const savePullDraft = (
  store: Store,
  caseId: string,
  { matter, body }: Pick<StoredPullDraft, 'matter' | 'body'>,
  seen?: string | null,
): Promise<StoredPullDraft | undefined> =>
  changeItem(store, caseId, async (item) => {
    const bodyIn = (eol: '\n' | '\r\n') => bodyOfText(storable(body), eol);
    const rule: Rule<StoredPullDraft> = ({ sha, source }) => {
      if (seen !== undefined && seen !== etagOf(sha)) throw draftChanged(item);
      return { changes: { ...matter }, body: bodyIn(source.eol) };
    };
    await drafts.saveIn(store, item, rule, renderFrontMatter({ ...matter }, bodyIn('\n')));
    return drafts.readIn(store, item);
  });

const draftChanged = ({ dir }: Item): StoreError =>
  new StoreError('file_busy', `${dir}/pr/draft.md was edited meanwhile. Try again`);
