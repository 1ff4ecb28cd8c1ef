import { useState } from 'preact/hooks';
import { type FilePatch, filesOf } from '../../../../lib/text/patch.ts';
import { readEither, readStored, writeBoth, writeStored } from '../storage.ts';
import { useLoaded } from '../use-loaded.ts';
import type { Layout } from './rows.ts';

/** A comment on lines of a file. */
export interface Comment {
  path: string;
  /** Line numbers of the new side, or of the old side if `isOld`. */
  from: number;
  to: number;
  isOld: boolean;
  quoted: string;
  text: string;
}

/** What a diff is compared with: the base, or the state at the approval. */
export type DiffBase = 'base' | 'approval';

/**
 * The review state that this browser stores. `viewed` and `seen` have hashes of file patches, so a changed file has
 * no mark.
 */
interface ReviewState {
  viewed: readonly string[];
  seen: readonly string[];
  comments: readonly Comment[];
}

const EMPTY: ReviewState = { viewed: [], seen: [], comments: [] };

type Marks = Omit<ReviewState, 'seen'>;

type ReviewChange = (before: Marks) => Partial<Marks>;

const read = <T>(key: string, otherwise: T): T => ({ ...otherwise, ...readStored<T>(key) });

/** The review state of a session's diff. `seen` is stored for each base of comparison. */
export const useReviewState = (sid: string, since: DiffBase) => {
  const key = keyOf(sid);
  const seenKey = since === 'base' ? key : `${key}.${since}`;
  const [state, setKept] = useState(() => ({
    ...read(key, EMPTY),
    seen: read(seenKey, EMPTY).seen,
  }));
  const [isStored, setStored] = useState(true);
  const update = (change: ReviewChange): void => {
    setKept({ ...state, ...change(state) });
    // Another tab may have stored more since: that is changed in the same way, not replaced.
    const stored = read(key, EMPTY);
    setStored(writeStored(key, { ...stored, ...change(stored) }));
  };
  const storeSeen = (seen: readonly string[]): void => {
    writeStored(seenKey, { ...read(seenKey, EMPTY), seen });
  };
  return { state, update, storeSeen, isStored };
};

/** All but those comments, which another tab may have stored as well. */
export const withoutComments = (
  all: readonly Comment[],
  gone: readonly Comment[],
): readonly Comment[] => {
  const texts = new Set(gone.map((one) => JSON.stringify(one)));
  return all.filter((one) => !texts.has(JSON.stringify(one)));
};

const keyOf = (sid: string): string => `dossier.diff.${sid}`;

/** A comment while it is written. */
export interface Writing {
  about: Omit<Comment, 'text'>;
  text: string;
}

/** The comment that is written, which this tab and this browser store until it is saved or cancelled. */
export const useWriting = (sid: string) => {
  const key = `${keyOf(sid)}.writing`;
  const [stored] = useState(() => readEither<Writing>(key));
  const [writing, setWriting] = useState(stored);
  const [isStored, setStored] = useState(true);
  const write = (next: Writing | undefined): void => {
    setWriting(next);
    setStored(writeBoth(key, next) || next === undefined);
  };
  const isBack = writing !== undefined && writing.about === stored?.about;
  return { writing, write, isBack, isStored };
};

/** Counts the files of a patch, the viewed ones, and the comments that were not sent. */
export const countReviewed = async (sid: string, patch: string) => {
  const { viewed, comments } = read(keyOf(sid), EMPTY);
  const hashes = await Promise.all(filesOf(patch).map(({ text }) => hashOf(text)));
  const seen = hashes.filter((hash) => viewed.includes(hash)).length;
  return { files: hashes.length, viewed: seen, comments: comments.length };
};

const LAYOUT = 'dossier.diff.layout';

/** The layout of diffs, for all sessions. */
export const useLayout = () => {
  const [{ layout }, set] = useState(() => read<{ layout: Layout }>(LAYOUT, { layout: 'inline' }));
  const toggle = (): void => {
    const next = { layout: layout === 'side' ? ('inline' as const) : ('side' as const) };
    set(next);
    writeStored(LAYOUT, next);
  };
  return { layout, toggle };
};

/** The SHA-256 of each file's patch, once computed. Empty on an insecure origin, which has no `crypto.subtle`. */
export const useHashes = (files: readonly FilePatch[]): readonly string[] => {
  const { value } = useLoaded(
    async () => ({ of: files, hashes: await Promise.all(files.map(({ text }) => hashOf(text))) }),
    files,
  );
  return value?.of === files ? value.hashes : NONE;
};

const NONE: readonly string[] = [];

const hashOf = async (text: string): Promise<string> => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** The comments as one text, each with its place and the quoted lines. */
export const feedbackOf = (comments: readonly Comment[]): string =>
  comments.map(partOf).join('\n\n');

const partOf = ({ path, from, to, isOld, quoted, text }: Comment): string => {
  const lines = from === to ? `${from}` : `${from}-${to}`;
  const place = `${JSON.stringify(path).slice(1, -1)}:${lines}${isOld ? ' (old version)' : ''}`;
  return `${place}\n\n${quoted.replace(/^/gm, '> ')}\n\n${text}`;
};

/** The operator's text after the comments in it changed: removed ones are taken out, new ones come last. */
export const feedbackWith = (
  typed: string,
  before: readonly Comment[],
  after: readonly Comment[],
): string => {
  const whole = feedbackOf(after);
  if (typed === whole || typed === feedbackOf(before)) return whole;
  const gone = before.filter((one) => !after.includes(one)).map(partOf);
  const left = gone.reduce(without, typed);
  return withParts(left, after.filter((one) => !before.includes(one)).map(partOf));
};

const without = (text: string, part: string): string => {
  const found = [`\n\n${part}`, `${part}\n\n`, part].find((one) => text.includes(one));
  return found === undefined ? text : text.replace(found, () => '');
};

const withParts = (text: string, parts: readonly string[]): string =>
  [text, ...parts].filter((one) => one.trim() !== '').join('\n\n');

/** Text that was typed over `over`, with the comments that are new since. */
export const feedbackSince = (typed: string, over: string, comments: readonly Comment[]): string =>
  withParts(
    typed,
    comments.map(partOf).filter((part) => !over.includes(part)),
  );
