import { LockMatter } from '../records/lock.ts';
import { SessionMatter } from '../records/session.ts';
import { parseFrontMatter } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';

export const checkSession = checkerOf(SessionMatter);
export const checkLock = checkerOf(LockMatter);

export const parseSession = (text: string): SessionMatter => {
  const source = parseFrontMatter(text);
  return checkSession(source.data, source);
};

export const parseLock = (text: string): LockMatter => {
  const source = parseFrontMatter(text);
  return checkLock(source.data, source);
};
