import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../store/names.ts';
import type { LockMatter } from '../../store/records/lock.ts';

/** Whether a token is the one that a lock was taken with. A session's lock has none. Takes the same time for any token. */
export const isTokenOf = ({ token_sha256 = '' }: LockMatter, token: string): boolean => {
  const [known, given] = [Buffer.from(token_sha256), Buffer.from(sha256(token))];
  return known.length === given.length && timingSafeEqual(known, given);
};
