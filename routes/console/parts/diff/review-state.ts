import { useEffect, useState } from 'preact/hooks';
import { type FilePatch, filesOf } from '../../../../lib/text/patch.ts';
import type { Layout } from './rows.ts';

/** What the operator says of some lines of a file. */
export interface Comment {
  path: string;
  /** Of the new side; of the old one where `isOld`. */
  from: number;
  to: number;
  isOld: boolean;
  quoted: string;
  text: string;
}

/** What a diff is against: the base, or what stood when the plan was approved. */
export type Since = 'base' | 'approval';

/** What this browser remembers of a diff. A mark is the hash of a file's patch: of what changed since there is none. */
interface Kept {
  viewed: readonly string[];
  seen: readonly string[];
  comments: readonly Comment[];
}

const NOTHING: Kept = { viewed: [], seen: [], comments: [] };

interface Storage {
  getItem: (key: string) => string | null;
  setItem: (key: string, value: string) => void;
}

// Not on the server, nor where a browser keeps nothing.
const storage = (): Storage | undefined => {
  try {
    return (globalThis as { localStorage?: Storage }).localStorage;
  } catch {
    return undefined;
  }
};

const read = <T>(key: string, otherwise: T): T => {
  try {
    return { ...otherwise, ...JSON.parse(storage()?.getItem(key) ?? '{}') };
  } catch {
    return otherwise;
  }
};

const write = (key: string, value: object): void => {
  try {
    storage()?.setItem(key, JSON.stringify(value));
  } catch {
    // It is full: what was to be remembered lasts as long as the page.
  }
};

/** What is remembered of a session's diff, and how it is changed. What was seen is so of the diff since one time alone. */
export const useKept = (sid: string, since: Since) => {
  const key = keyOf(sid);
  const seenKey = since === 'base' ? key : `${key}.${since}`;
  const [kept, setKept] = useState(() => ({
    ...read(key, NOTHING),
    seen: read(seenKey, NOTHING).seen,
  }));
  const keep = (change: Partial<Omit<Kept, 'seen'>>): void => {
    setKept({ ...kept, ...change });
    // Another tab may have marked more since.
    write(key, { ...read(key, NOTHING), ...change });
  };
  const keepSeen = (seen: readonly string[]): void =>
    write(seenKey, { ...read(seenKey, NOTHING), seen });
  return { kept, keep, keepSeen };
};

const keyOf = (sid: string): string => `dossier.diff.${sid}`;

/** How many files a patch of a session has, how many of them are viewed, and how many comments on them were not sent. */
export const countKept = async (sid: string, patch: string) => {
  const { viewed, comments } = read(keyOf(sid), NOTHING);
  const hashes = await Promise.all(filesOf(patch).map(({ text }) => hashOf(text)));
  const seen = hashes.filter((hash) => viewed.includes(hash)).length;
  return { files: hashes.length, viewed: seen, comments: comments.length };
};

const LAYOUT = 'dossier.diff.layout';

/** How differences are laid out: remembered for all of them. */
export const useLayout = () => {
  const [{ layout }, set] = useState(() => read<{ layout: Layout }>(LAYOUT, { layout: 'inline' }));
  const toggle = (): void => {
    const next = { layout: layout === 'side' ? ('inline' as const) : ('side' as const) };
    set(next);
    write(LAYOUT, next);
  };
  return { layout, toggle };
};

/** Of each file's patch its SHA-256, once they are known; none where the browser makes none for this address. */
export const useHashes = (files: readonly FilePatch[]): readonly string[] => {
  const [hashes, setHashes] = useState<readonly string[]>([]);
  useEffect(() => {
    let isOld = false;
    setHashes([]);
    void Promise.all(files.map(({ text }) => hashOf(text))).then(
      (all) => !isOld && setHashes(all),
      () => undefined,
    );
    return () => {
      isOld = true;
    };
  }, [files]);
  return hashes;
};

const hashOf = async (text: string): Promise<string> => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Comments as a text that says all of them: where, of which lines, and what. */
export const feedbackOf = (comments: readonly Comment[]): string =>
  comments
    .map(({ path, from, to, isOld, quoted, text }) => {
      const lines = from === to ? `${from}` : `${from}-${to}`;
      const place = `${JSON.stringify(path).slice(1, -1)}:${lines}${isOld ? ' (as it was before)' : ''}`;
      return `${place}\n\n${quoted.replace(/^/gm, '> ')}\n\n${text}`;
    })
    .join('\n\n');
