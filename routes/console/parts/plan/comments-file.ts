import { useState } from 'preact/hooks';
import { Problem } from '../../../../lib/client/client.ts';
import { orProblem } from '../../common/load.ts';
import type { Api } from '../../common/page.ts';
import type { SessionRef } from '../activity/stream.ts';
import { browserApi, isBrowser } from '../form.tsx';
import { readStored, writeStored } from '../storage.ts';

/** The comments.md of a session. */
export interface CommentsFile {
  text: string;
  etag: string | undefined;
  /** Why it cannot be read, and so not be changed. */
  failure?: string | undefined;
}

/** Changes the text of the file; returns undefined if the comment to change is gone. */
type CommentsChange = (text: string) => string | undefined;

export interface CommentsState {
  text: string;
  /** Returns undefined once the change is on disk, or else an error message. */
  change: (rule: CommentsChange) => Promise<string | undefined>;
  /** Whether comments can be changed: only with scripts. */
  isOpen: boolean;
}

/** The comments of a session. A change that another tab or an editor preceded is applied to the new version. */
export const useComments = (of: SessionRef, given: CommentsFile): CommentsState => {
  const [now, setNow] = useState(given);
  const [seen, setSeen] = useState(given.etag);
  if (seen !== given.etag) {
    setSeen(given.etag);
    setNow(given);
  }
  const change = async (rule: CommentsChange): Promise<string | undefined> => {
    try {
      const next = await write(of, { rule, seen: now });
      if (next === undefined) return GONE;
      setNow(next);
      return undefined;
    } catch (error) {
      return error instanceof Problem ? (error.detail ?? error.message) : UNREACHED;
    }
  };
  return { text: now.text, change, isOpen: isBrowser && given.failure === undefined };
};

const UNREACHED = 'The daemon does not respond. Your text is kept here. Try again.';
const GONE =
  'This comment was changed or removed elsewhere. Your text is kept here. Save it as a new comment, or cancel.';

const TRIES = 5;

const write = async (
  of: SessionRef,
  { rule, seen }: { rule: CommentsChange; seen: CommentsFile },
): Promise<CommentsFile | undefined> => {
  for (let [tries, file] = [1, seen]; ; tries += 1) {
    const text = rule(file.text);
    if (text === undefined) return undefined;
    try {
      const at = { ...of, body: text, ifMatch: file.etag };
      const { etag } = await browserApi.request('PUT /cases/{id}/sessions/{sid}/comments', at);
      return { text, etag };
    } catch (error) {
      // Another writer was first: the change is applied to the current version.
      if (!(error instanceof Problem && error.status === 412) || tries === TRIES) throw error;
      file = await readComments(browserApi, of);
    }
  }
};

/** Reads the file; empty if it does not exist. */
const readComments = async ({ request }: Api, of: SessionRef): Promise<CommentsFile> => {
  const { data = '', etag } = await request('GET /cases/{id}/sessions/{sid}/comments', of);
  return { text: data, etag, ...(data.includes('\uFFFD') && { failure: NOT_TEXT }) };
};

/** As readComments, with the error as a text: a plan is shown even if its comments cannot be read. */
export const loadComments = async (api: Api, of: SessionRef): Promise<CommentsFile> => {
  const { value, problem } = await orProblem(readComments(api, of));
  return value ?? { text: '', etag: undefined, failure: problem?.detail ?? problem?.title };
};

const NOT_TEXT =
  'comments.md is not valid UTF-8. Save it as UTF-8 in an editor, then comment here.';

const keyOf = (sid: string): string => `comments ${sid}`;

type Drafts = Record<string, string>;

const PLACES = ['localStorage', 'sessionStorage'] as const;

/**
 * Unsaved comments by place, in both storages: a restart keeps them, and another tab does not replace this tab's
 * text.
 */
export const readDrafts = (sid: string): Drafts =>
  Object.assign({}, ...PLACES.map((kept) => readStored<Drafts>(keyOf(sid), kept)));

/** False if no storage takes the text. */
export const storeDraft = (sid: string, place: string, text: string): boolean => {
  const stored = PLACES.map((kept) => {
    const { [place]: _before, ...others } = readStored<Drafts>(keyOf(sid), kept) ?? {};
    const drafts = text.trim() === '' ? others : { ...others, [place]: text };
    return writeStored(keyOf(sid), Object.keys(drafts).length === 0 ? undefined : drafts, kept);
  });
  return stored.includes(true);
};
