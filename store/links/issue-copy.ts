import { join } from 'node:path';
import { createFile } from '../disk/durable.ts';
import { assertOwn } from '../items/changing.ts';
import type { Item } from '../items/item.ts';
import { issueFile } from '../layout.ts';
import { IssueCopyMatter } from '../records/link.ts';
import type { Store } from '../store.ts';
import { bodyOfText, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { editRecord, readRecord } from '../text/record-file.ts';
import { renderFrontMatter } from '../text/splice.ts';

/** The issue as last synced. */
export interface IssueCopy extends IssueCopyMatter {
  body: string;
}

/** The issue of a Work item as last synced; undefined when it never was. Throws `unreadable_record`. */
export const readIssueCopy = (store: Store, caseId: string): IssueCopy | undefined => {
  const item = store.items.byId.get(caseId);
  return item && issueCopyOf(store, item);
};

/** The same, for whoever has the Work item. */
export const issueCopyOf = ({ layout: { root } }: Store, { dir }: Item): IssueCopy | undefined => {
  const record = readRecord(root, issueFile(join(root, dir)), checkerOf(IssueCopyMatter));
  return record && { ...record.matter, body: textOfBody(record.source) };
};

/** Writes it in the Work item's turn. Keys of the operator's own stay. */
export const writeIssueCopy = async (store: Store, item: Item, copy: IssueCopy): Promise<void> => {
  const path = issueFile(join(store.layout.root, item.dir));
  const { body, ...matter } = copy;
  const isThere = await editRecord(store.layout, path, ({ source }) => ({
    changes: matter,
    body: bodyOfText(body, source.eol),
  }));
  if (isThere) return;
  const assertMeant = (): void => assertOwn(store, item);
  await createFile(store.layout, path, issueText(copy), { assertMeant });
};

/** issue.md as it begins. */
export const issueText = ({ body, ...matter }: IssueCopy): string =>
  renderFrontMatter(matter, bodyOfText(body, '\n'));
