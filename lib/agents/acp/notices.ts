import { number, record, text, type Wire } from '../../../base/wire.ts';
import { momentOf, type UsageLimit } from '../limits.ts';
import type { Trouble } from '../waiting.ts';
import { LOG_IN } from './failure.ts';

/** What agents tell of their model besides the protocol. */
interface Notice {
  trouble?: Trouble;
  /** Why no waiting helps, in a sentence. */
  hopeless?: string;
  /** A limit was reached: where the turn fails, it fails of that. */
  limit?: UsageLimit;
}

/** Reads a notification for it; undefined where it tells of nothing the like. */
export const noticeIn = (method: string, params: unknown, now: Date): Notice | undefined => {
  const { update, message } = record(params);
  if (method === '_claude/sdkMessage') return ofClaude(record(message), now);
  const { _meta, sessionUpdate } = record(update);
  const { codex } = record(_meta);
  if (sessionUpdate === 'session_info_update') return ofCodex(record(record(codex).error));
  return ofRateLimit(record(_meta)['_claude/rateLimit']);
};

const ofClaude = (message: Wire, now: Date): Notice | undefined => {
  if (message.type === 'rate_limit_event') return ofRateLimit(message.rate_limit_info);
  if (message.subtype !== 'api_retry') return undefined;
  const http_status = number(message.error_status);
  const kind = text(message.error) ?? 'unknown';
  const delay = number(message.retry_delay_ms);
  return withHope(`Its model answers with an error (${kind}).`, http_status, {
    ...count('attempt', message.attempt),
    ...count('attempts', message.max_retries),
    ...(delay !== undefined && { retry_at: new Date(now.getTime() + delay).toISOString() }),
  });
};

const ofRateLimit = (told: unknown): Notice | undefined => {
  const { status, resetsAt } = record(told);
  if (status !== 'rejected') return undefined;
  const resume_at = momentOf(number(resetsAt));
  return { limit: resume_at === undefined ? {} : { resume_at } };
};

const ofCodex = (error: Wire): Notice | undefined => {
  const { message, additionalDetails, codexErrorInfo } = error;
  if (text(message) === undefined) return undefined;
  const http_status = statusIn(codexErrorInfo);
  const [, attempt, attempts] = /(\d+)\/(\d+)/.exec(text(message) ?? '') ?? [];
  const words = [text(message), text(additionalDetails)].filter(Boolean).join(' ');
  const limited = codexErrorInfo === 'usageLimitExceeded' ? { limit: {} } : {};
  return {
    ...withHope(words, http_status, {
      ...count('attempt', attempt === undefined ? undefined : Number(attempt)),
      ...count('attempts', attempts === undefined ? undefined : Number(attempts)),
    }),
    ...limited,
  };
};

const statusIn = (info: unknown): number | undefined =>
  number(record(Object.values(record(info))[0]).httpStatusCode);

const count = (name: 'attempt' | 'attempts', value: unknown): Partial<Trouble> =>
  number(value) === undefined ? {} : { [name]: number(value) };

// A credential does not become good by asking again, nor does a model appear.
const HOPELESS = new Map([
  [401, `Its model does not take the credential (401). ${LOG_IN}`],
  [403, 'Its model refuses access (403).'],
  [404, 'Its model is not there (404): the name of the model, or the address, is wrong.'],
]);

const withHope = (message: string, status: number | undefined, more: Partial<Trouble>): Notice => {
  const why = status === undefined ? undefined : HOPELESS.get(status);
  if (why !== undefined) return { hopeless: `${why} ${message}` };
  return { trouble: { message, ...(status !== undefined && { http_status: status }), ...more } };
};
