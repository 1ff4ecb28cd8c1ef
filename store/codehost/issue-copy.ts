import { bodyOfText, textOfBody } from '../front-matter/front-matter.ts';
import type { Current } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { issueFile } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { itemOf } from '../reconcile/items.ts';
import { recordKind } from '../reconcile/sidecar-records.ts';
import { IssueCopyMatter } from '../records/link.ts';
import type { Store } from '../store.ts';

/** The issue as last synced. */
export interface IssueCopy extends IssueCopyMatter {
  body: string;
}

const copies = recordKind({
  schema: IssueCopyMatter,
  path: issueFile,
  parts: (source) => ({ body: textOfBody(source) }),
});

/** The issue of a Work item as last synced; undefined when it never was. Throws `unreadable_record`. */
export const readIssueCopy = (store: Store, caseId: string): IssueCopy | undefined => {
  const item = itemOf(store, caseId);
  return item && issueCopyOf(store, item);
};

/** The same, for whoever has the Work item. */
export const issueCopyOf = (store: Store, item: Item): IssueCopy | undefined => {
  const kept = copies.readIn(store, item);
  return kept && { ...kept.matter, body: kept.body };
};

/** Writes it in the Work item's turn. Keys of the operator's own stay. */
export const writeIssueCopy = (store: Store, item: Item, copy: IssueCopy): Promise<unknown> => {
  const { body, ...changes } = copy;
  const rewritten = ({ source: { eol } }: Pick<Current, 'source'>) => ({
    changes,
    body: bodyOfText(body, eol),
  });
  return copies.saveIn(store, item, rewritten, issueText(copy));
};

/** issue.md as it begins. */
export const issueText = ({ body, ...matter }: IssueCopy): string =>
  renderFrontMatter(matter, bodyOfText(body, '\n'));
