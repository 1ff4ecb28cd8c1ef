import type { SyncedAll } from '../../../store/records/sync.ts';
import { ServiceError } from '../../errors.ts';

/** Why a long job cannot go on, and when there is a point in trying again. */
type Halt = NonNullable<SyncedAll['stopped']>;

/** An error of the code host as the reason to stop; undefined for what is no answer of this service's. */
export const haltOf = (error: unknown, now: Date): Halt | undefined => {
  if (!(error instanceof ServiceError)) return undefined;
  const { code, message: detail, members, headers } = error;
  if (code !== 'codehost_rate_limited') return { code, detail, resume_at: null };
  const seconds = Number(headers['retry-after'] ?? FEW_SECONDS);
  const later = new Date(now.getTime() + seconds * 1000).toISOString();
  const { reset_at = later } = members as { reset_at?: string };
  return { code, detail, resume_at: reset_at };
};

const FEW_SECONDS = 60;
