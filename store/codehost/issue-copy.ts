import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import type { Current } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { issueFile } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { itemOf } from '../reconcile/items.ts';
import { sidecarRecords } from '../reconcile/sidecar-records.ts';
import { IssueCopyMatter } from '../records/link.ts';
import type { Store } from '../store.ts';

/** The issue as last synced. */
export interface IssueCopy extends IssueCopyMatter {
  body: string;
}

const copies = sidecarRecords({
  schema: IssueCopyMatter,
  path: issueFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** The issue of a Work item as last synced; undefined if there is none. Throws `unreadable_record`. */
export const readIssueCopy = (store: Store, caseId: string): IssueCopy | undefined => {
  const item = itemOf(store, caseId);
  return item && issueCopyOf(store, item);
};

/** As `readIssueCopy`, for a caller that has the Work item. */
export const issueCopyOf = (store: Store, item: Item): IssueCopy | undefined => {
  const kept = copies.readIn(store, item);
  return kept && { ...kept.matter, body: kept.body };
};

/** Writes the copy under the lock of the Work item. Keys that the operator added stay. */
export const writeIssueCopy = (store: Store, item: Item, copy: IssueCopy): Promise<unknown> => {
  const { body, ...changes } = copy;
  const rewritten = ({ source: { eol } }: Pick<Current, 'source'>) => ({
    changes,
    body: bodyOfText(body, eol),
  });
  return copies.saveIn(store, item, rewritten, issueText(copy));
};

/** The text of a new issue.md. */
export const issueText = ({ body, ...matter }: IssueCopy): string =>
  renderFrontMatter(matter, bodyOfText(body, '\n'));
