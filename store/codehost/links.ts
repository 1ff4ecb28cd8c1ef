import { logLine, withLogLine } from '../front-matter/body.ts';
import { type FrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import type { RecordEdit } from '../front-matter/record-file.ts';
import { renderFrontMatter, spliceWithin } from '../front-matter/splice.ts';
import { untilWritten } from '../fs/retry.ts';
import { linkFile } from '../layout.ts';
import { changeItem } from '../reconcile/change-item.ts';
import type { Item } from '../reconcile/item.ts';
import { type StoredRecord, sidecarRecords } from '../reconcile/sidecar-records.ts';
import { type IssueLinkMatter, LinkMatter } from '../records/link.ts';
import type { Store } from '../store.ts';
import { refreshLink } from './link-index.ts';

/** `issue` is undefined if link.md names none. */
type StoredLink = StoredRecord<LinkMatter, { issue: IssueLinkMatter | undefined }>;

const links = sidecarRecords({
  schema: LinkMatter,
  path: linkFile,
  parts: (_, { issue }) => ({ issue }),
});

/** The link of a Work item as it is on disk now; undefined if there is no link.md or no such Work item. Throws `unreadable_record`. */
export const readLink = links.read;

/** As `readLink`, for a caller that has the Work item. */
export const linkOf = links.readIn;

export interface LinkChange {
  /** Changes of `issue`; undefined removes a key. */
  changes: { [K in keyof IssueLinkMatter]?: IssueLinkMatter[K] | undefined };
  /** A sentence for the log. */
  line?: string;
}

/** Computes the change of a link; undefined for none. */
type LinkRule = (current: StoredLink) => LinkChange | undefined;

/**
 * Applies a rule to the link to an issue, under the lock of the Work item. False if there is no such link; undefined if
 * there is no such Work item. Throws `unreadable_record`.
 */
export const changeLink = (
  store: Store,
  caseId: string,
  rule: LinkRule,
): Promise<boolean | undefined> =>
  changeItem(store, caseId, async (item) => {
    const attempt = () => changeLinkOnce(store, item, rule);
    return (await untilWritten(linkFile(item.dir), attempt)) === 'there';
  });

/** One attempt of `changeLink`, under the lock of the Work item; false if the file was saved by another program meanwhile. */
export const changeLinkOnce = async (
  store: Store,
  item: Item,
  rule: LinkRule,
): Promise<'there' | 'absent' | false> => {
  let isThere = false;
  const done = await links.editOnceAt(store, links.at(store, item), ({ source, read }) => {
    const current = read();
    isThere = current.issue !== undefined;
    const change = isThere ? rule(current) : undefined;
    return change && editOf(source, change, store.clock().toISOString());
  });
  refreshLink(store, item);
  return done === 'there' && !isThere ? 'absent' : done;
};

const editOf = (source: FrontMatter, { changes, line }: LinkChange, now: string): RecordEdit => ({
  yaml: splitFrontMatter(spliceWithin(source, 'issue', changes)).yaml,
  ...(line !== undefined && { body: withLogLine(source, logLine(now, line)) }),
});

/** Creates the link of a Work item; false if there is a link.md, undefined if there is no such Work item. */
export const createLink = (
  store: Store,
  caseId: string,
  link: NewLink,
): Promise<boolean | undefined> =>
  changeItem(store, caseId, async (item) => {
    const isNew = await links.createIn(store, item, linkText(link));
    refreshLink(store, item);
    return isNew;
  });

interface NewLink {
  issue: IssueLinkMatter;
  at: string;
  /** A sentence for the log. */
  line: string;
}

/** The text of a new link.md. */
export const linkText = ({ issue, at, line }: NewLink): string =>
  renderFrontMatter({ issue }, `\n${logLine(at, line)}\n`);
