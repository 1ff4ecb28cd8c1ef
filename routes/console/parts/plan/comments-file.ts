import { useContext, useState } from 'preact/hooks';
import { Problem } from '../../../../lib/client/client.ts';
import { orTold } from '../../common/load.ts';
import type { Api } from '../../common/page.ts';
import { InReach } from '../form.tsx';
import { keepAs, keptAs } from '../storage.ts';

/** comments.md of a session, as it was read. */
export interface CommentsFile {
  text: string;
  etag: string | undefined;
  /** Why it cannot be read as it is, and so not be written. */
  told?: string | undefined;
}

/** A change of the file: from what it says; undefined where what was meant is not there any more. */
type CommentsRule = (text: string) => string | undefined;

export interface CommentsNow {
  text: string;
  /** Answers undefined when it is on disk, else why it is not. */
  change: (rule: CommentsRule) => Promise<string | undefined>;
  /** Whether comments can be written here: not without scripts. */
  isOpen: boolean;
}

interface Of {
  id: string;
  sid: string;
}

/** comments.md as it is now, over all tabs and editors: whoever changes what others changed meanwhile changes theirs, too. */
export const useComments = (of: Of, given: CommentsFile): CommentsNow => {
  const api = useContext(InReach);
  const [now, setNow] = useState(given);
  const [told, setTold] = useState(given.etag);
  if (told !== given.etag) {
    setTold(given.etag);
    setNow(given);
  }
  const change = async (rule: CommentsRule): Promise<string | undefined> => {
    if (api === undefined) return UNREACHED;
    try {
      const next = await write(api, of, { rule, seen: now });
      if (next === undefined) return GONE;
      setNow(next);
      return undefined;
    } catch (error) {
      return error instanceof Problem ? (error.detail ?? error.message) : UNREACHED;
    }
  };
  return { text: now.text, change, isOpen: api !== undefined && given.told === undefined };
};

const UNREACHED = 'The daemon does not answer. What you wrote stays here: try again.';
const GONE =
  'This comment was changed or removed elsewhere meanwhile. What you wrote stays here: save it as a new one, or leave it.';

interface Wish {
  rule: CommentsRule;
  seen: CommentsFile;
}

const TRIES = 5;

const write = async (api: Api, of: Of, { rule, seen }: Wish): Promise<CommentsFile | undefined> => {
  for (let [tries, file] = [1, seen]; ; tries += 1) {
    const text = rule(file.text);
    if (text === undefined) return undefined;
    try {
      const at = { ...of, body: text, ifMatch: file.etag };
      const { etag } = await api.request('PUT /cases/{id}/sessions/{sid}/comments', at);
      return { text, etag };
    } catch (error) {
      // Somebody else wrote since: what is meant here is done to what stands there now.
      if (!(error instanceof Problem && error.status === 412) || tries === TRIES) throw error;
      file = await readComments(api, of);
    }
  }
};

/** The file as it stands; empty where there is none. */
const readComments = async ({ request }: Api, of: Of): Promise<CommentsFile> => {
  const { data = '', etag } = await request('GET /cases/{id}/sessions/{sid}/comments', of);
  return { text: data, etag, ...(data.includes('\uFFFD') && { told: NOT_TEXT }) };
};

/** The same for who shows the plan whatever is with its comments. */
export const commentsOrWhy = async (api: Api, of: Of): Promise<CommentsFile> => {
  const { value, told } = await orTold(readComments(api, of));
  return value ?? { text: '', etag: undefined, told: told?.detail ?? told?.title };
};

const NOT_TEXT =
  'comments.md is not UTF-8 as a whole. It stays as it is: save it as UTF-8 in an editor, then comment here.';

const keyOf = (sid: string): string => `comments ${sid}`;

type Drafts = Record<string, string>;

const PLACES = ['localStorage', 'sessionStorage'] as const;

/**
 * What was typed and not saved yet, by where it is to stand. It survives a reload and a restart; what another tab has of
 * the same place takes nothing away from this one.
 */
export const draftsOf = (sid: string): Drafts =>
  Object.assign({}, ...PLACES.map((kept) => keptAs<Drafts>(keyOf(sid), kept)));

export const keepDraft = (sid: string, place: string, text: string): void => {
  for (const kept of PLACES) {
    const { [place]: _before, ...others } = keptAs<Drafts>(keyOf(sid), kept) ?? {};
    const drafts = text.trim() === '' ? others : { ...others, [place]: text };
    keepAs(keyOf(sid), Object.keys(drafts).length === 0 ? undefined : drafts, kept);
  }
};
