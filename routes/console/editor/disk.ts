import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../../../lib/client/client.ts';
import type { Api } from '../common/page.ts';
import { saidOf, toldOf } from '../common/send-form.ts';
import { InReach } from '../parts/form.tsx';
import type { Typed } from './kept.ts';

/** A file of the worktree, as it was read. */
export interface OnDisk {
  content: string;
  /** undefined: it is not there. */
  etag: string | undefined;
}

interface Place {
  id: string;
  path: string;
}

interface Known {
  /** What the text of the editor was typed over. */
  seen: OnDisk;
  /** What is there now, where that is another. */
  theirs?: OnDisk | undefined;
  /** What the operator is told of the last look or save. */
  said?: string | undefined;
}

/** The file that is open, as others leave it and as it is saved: nobody's text is written over unseen. */
export const useDisk = (place: Place, given: OnDisk, typed: Typed | undefined) => {
  const api = useContext(InReach) as Api;
  const [now, setNow] = useState(() => begun(given, typed));
  const known = useRef(now);
  const put = (change: Partial<Known>): void => {
    known.current = { ...known.current, ...change };
    setNow(known.current);
  };
  const look = async (): Promise<void> => {
    const there = await readOnDisk(api, place);
    const { seen } = known.current;
    if (there.etag === seen.etag) put({ theirs: undefined });
    else if (there.content === seen.content && there.etag !== undefined)
      put({ seen: there, theirs: undefined });
    else put({ theirs: there });
  };
  const check = () => void look().catch((error: unknown) => put({ said: wordsOf(error) }));
  useWhenBack(check);
  const save = async (text: string): Promise<OnDisk | undefined> => {
    try {
      const etag = await write(api, place, { content: text, etag: known.current.seen.etag });
      const there = { content: text, etag };
      put({ seen: there, theirs: undefined, said: undefined });
      return there;
    } catch (error) {
      if (!isOlder(error)) put({ said: wordsOf(error) });
      else await look().catch((failed: unknown) => put({ said: wordsOf(failed) }));
      return undefined;
    }
  };
  /** What is there now is known: what is saved next goes over it. */
  const settle = (seen: OnDisk): void => put({ seen, theirs: undefined, said: undefined });
  return { ...now, check, save, settle };
};

// What was typed over a version that is gone stands beside the one that is there.
const begun = (given: OnDisk, typed: Typed | undefined): Known =>
  typed === undefined || typed.etag === given.etag
    ? { seen: given }
    : { seen: { content: '', etag: typed.etag }, theirs: given };

// What others do to the files of a worktree no event tells: it is looked at when one comes back.
const useWhenBack = (look: () => void): void =>
  useEffect(() => {
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, []);

const readOnDisk = async ({ request }: Api, { id, path }: Place): Promise<OnDisk> => {
  try {
    const answer = await request('GET /cases/{id}/editor/files', { id, query: { path } });
    const { content, binary } = answer.data as { content: string; binary: boolean };
    if (binary) throw new Error('It is no text any more. What you typed stays here.');
    return { content, etag: answer.etag };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return { content: '', etag: undefined };
    throw error;
  }
};

const write = async (
  { request }: Api,
  { id, path }: Place,
  { content, etag }: OnDisk,
): Promise<string | undefined> => {
  const made =
    etag === undefined
      ? await request('POST /cases/{id}/editor/files', { id, body: { path, content } })
      : await request('PUT /cases/{id}/editor/files', {
          ...{ id, query: { path }, body: { content }, ifMatch: etag },
        });
  return made.etag;
};

// Somebody else wrote, removed or made it since.
const isOlder = (error: unknown): boolean =>
  error instanceof Problem &&
  (error.status === 412 || error.status === 404 || error.code === 'already_exists');

const wordsOf = (error: unknown): string => {
  if (!(error instanceof Problem) && error instanceof Error && error.name === 'Error')
    return error.message;
  return saidOf(toldOf(error));
};
