import { logLine, withLogLine } from '../front-matter/body.ts';
import { type FrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import type { RecordEdit } from '../front-matter/record-file.ts';
import { renderFrontMatter, spliceWithin } from '../front-matter/splice.ts';
import { untilDone } from '../fs/retry.ts';
import { linkFile } from '../layout.ts';
import { changingItem } from '../reconcile/changing.ts';
import type { Item } from '../reconcile/item.ts';
import { type Kept, recordKind } from '../reconcile/record-kind.ts';
import { type IssueLinkMatter, LinkMatter } from '../records/link.ts';
import type { Store } from '../store.ts';
import { noteLink } from './link-index.ts';

/** `issue` is undefined where link.md names none. */
export type StoredLink = Kept<LinkMatter, { issue: IssueLinkMatter | undefined }>;

const links = recordKind({
  schema: LinkMatter,
  path: linkFile,
  parts: (_, { issue }) => ({ issue }),
});

/**
 * The link of a Work item as it is on disk this moment; undefined when there is no link.md, or no such Work item. Throws
 * `unreadable_record`.
 */
export const readLink = links.read;

/** The same, for whoever has the Work item. */
export const linkOf = links.readIn;

export interface LinkChange {
  /** Of the issue; undefined takes a key away. */
  changes: { [K in keyof IssueLinkMatter]?: IssueLinkMatter[K] | undefined };
  /** What happened, as a sentence for the log. */
  line?: string;
}

/** From the link as it is on disk to what is to change in it; undefined for nothing. */
export type LinkRule = (current: StoredLink) => LinkChange | undefined;

/**
 * Runs a rule on the link to an issue and writes what it wants, in the Work item's turn. False when there is no such
 * link; undefined when there is no such Work item. Throws `unreadable_record`.
 */
export const changeLink = (
  store: Store,
  caseId: string,
  rule: LinkRule,
): Promise<boolean | undefined> =>
  changingItem(store, caseId, async (item) => {
    const attempt = () => changeLinkOnce(store, item, rule);
    return (await untilDone(linkFile(item.dir), attempt)) === 'there';
  });

/** One attempt of it, for whoever has the Work item's turn: false where somebody saved the file in between. */
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
    return change && edited(source, change, store.clock().toISOString());
  });
  noteLink(store, item);
  return done === 'there' && !isThere ? 'absent' : done;
};

const edited = (source: FrontMatter, { changes, line }: LinkChange, now: string): RecordEdit => ({
  yaml: splitFrontMatter(spliceWithin(source, 'issue', changes)).yaml,
  ...(line !== undefined && { body: withLogLine(source, logLine(now, line)) }),
});

/** Writes the link of a Work item that has none; false when there is a link.md. Undefined when there is no Work item. */
export const createLink = (
  store: Store,
  caseId: string,
  link: NewLink,
): Promise<boolean | undefined> =>
  changingItem(store, caseId, async (item) => {
    const isNew = await links.createIn(store, item, linkText(link));
    noteLink(store, item);
    return isNew;
  });

export interface NewLink {
  issue: IssueLinkMatter;
  at: string;
  /** What happened, as a sentence for the log. */
  line: string;
}

/** link.md as it begins. */
export const linkText = ({ issue, at, line }: NewLink): string =>
  renderFrontMatter({ issue }, `\n${logLine(at, line)}\n`);
