import { sha256 } from '../base/sha256.ts';
import { type FrontMatter, textOfBody } from '../front-matter/front-matter.ts';
import { ifReadable } from '../front-matter/problem.ts';
import {
  editRecord,
  type RecordEdit,
  readable,
  readRegularFile,
} from '../front-matter/record-file.ts';
import { storable } from '../front-matter/text.ts';
import { sessionFile } from '../layout.ts';
import type { SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import { createSessionFile } from './session-texts.ts';

/** The body of session.md, a summary for people; empty if there is none or the file is unreadable. */
export const sessionSummary = ({ layout: { root } }: Store, dir: string): string =>
  ifReadable(() => {
    const path = sessionFile(dir);
    const bytes = readRegularFile(root, path);
    return bytes === undefined ? '' : textOfBody(readable(root, path, bytes));
  }, '');

/** A text for the body of session.md. */
export interface Summary {
  text: string;
  /** Called before the text replaces a body that the operator wrote, with the name of the file that the body is kept in. */
  onKept: (name: string) => void;
}

interface SessionEdit extends RecordEdit {
  /** The body that the operator wrote, which the edit replaces. */
  edited?: { body: string; onKept: Summary['onKept'] } | undefined;
}

/** Like `editRecord`, for session.md: a body that the operator wrote is kept in a file of its own before it is replaced. */
export const editSession = async (
  store: Store,
  dir: string,
  rule: (source: FrontMatter) => SessionEdit | undefined,
  kept?: string,
): Promise<boolean> => {
  let edited: SessionEdit['edited'];
  const isThere = await editRecord(store.layout, sessionFile(dir), ({ source }) => {
    const edit = rule(source);
    edited = edit?.edited?.body === kept ? undefined : edit?.edited;
    return edited === undefined ? edit : undefined;
  });
  if (edited === undefined) return isThere;
  const { body, onKept } = edited;
  const bytes = Buffer.from(`${body}\n`);
  onKept(await createSessionFile(store, dir, 'edited-summary.md', bytes));
  // The operator may have saved it again meanwhile.
  return editSession(store, dir, rule, body);
};

/**
 * The edit that replaces the body of session.md, with its hash for the next time. A body without a hash, as of an older
 * release, counts as the operator's.
 */
export const summaryEdit = (
  { text, onKept }: Summary,
  { summary_sha256 }: SessionMatter,
  source: FrontMatter,
) => {
  const before = textOfBody(source).trim();
  const isEdited = before !== '' && sha256(before) !== summary_sha256;
  const body = storable(bodyOf(text));
  return {
    changes: { summary_sha256: sha256(body.trim()) },
    body,
    edited: isEdited ? { body: before, onKept } : undefined,
  };
};

// A record over the limit of a file could not be read again.
const bodyOf = (summary: string): string =>
  summary.length <= LONGEST_SUMMARY
    ? `\n${summary}\n`
    : `\n${summary.slice(0, LONGEST_SUMMARY)}\n\n[… ${summary.length - LONGEST_SUMMARY} characters left out …]\n`;

// In bytes of UTF-8, three times as much at most.
const LONGEST_SUMMARY = 262_144;
