import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../store/base/sha256.ts';

/** Whether a token is the one with this SHA-256. Nothing is the token of what has none. Takes the same time for any token. */
export const isTokenOf = (token_sha256: string | undefined, token: string): boolean => {
  const [known, given] = [Buffer.from(token_sha256 ?? ''), Buffer.from(sha256(token))];
  return known.length === given.length && timingSafeEqual(known, given);
};
