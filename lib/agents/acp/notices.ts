import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import { momentOf, type Outage } from '../outage.ts';
import type { Trouble } from '../waiting.ts';
import { LOG_IN } from './failure.ts';

/** A notice about the agent's model, from an extension of the protocol. */
export interface Notice {
  trouble?: Trouble;
  /** Why waiting does not help, as a sentence. */
  hopeless?: string;
  /** The error of a failed turn, as reported by the adapter. */
  failed?: string;
  /** The outage to report if the turn fails. */
  outage?: Outage;
}

/** Reads a notice from a notification; undefined if there is none. */
export const noticeIn = (method: string, params: unknown, now: Date): Notice | undefined => {
  const { update, message } = record(params);
  if (method === '_claude/sdkMessage') return ofClaude(record(message), now);
  const { _meta, sessionUpdate } = record(update);
  const { codex } = record(_meta);
  if (sessionUpdate === 'session_info_update')
    return ofCodex(record(record(codex).error)) ?? failureIn(_meta);
  return ofRateLimit(record(_meta)['_claude/rateLimit']);
};

const ofClaude = (message: Wire, now: Date): Notice | undefined => {
  if (message.type === 'rate_limit_event') return ofRateLimit(message.rate_limit_info);
  if (message.subtype !== 'api_retry') return undefined;
  const http_status = number(message.error_status);
  const kind = text(message.error) ?? 'unknown';
  const delay = number(message.retry_delay_ms) ?? Number.NaN;
  const retry_at = momentOf((now.getTime() + delay) / 1000);
  return withHope(`The agent's model returned an error (${kind}).`, http_status, {
    ...count('attempt', message.attempt),
    ...count('attempts', message.max_retries),
    ...(retry_at !== undefined && { retry_at }),
  });
};

const ofRateLimit = (told: unknown): Notice | undefined => {
  const { status, resetsAt } = record(told);
  if (status !== 'rejected') return undefined;
  const resume_at = momentOf(number(resetsAt));
  return { outage: { reason: 'usage_limit', ...(resume_at !== undefined && { resume_at }) } };
};

const ofCodex = (error: Wire): Notice | undefined => {
  const { message, additionalDetails, codexErrorInfo } = error;
  if (text(message) === undefined) return undefined;
  const http_status = statusIn(codexErrorInfo);
  const words = [text(message), text(additionalDetails)].filter(Boolean).join(' ');
  const limited =
    codexErrorInfo === 'usageLimitExceeded' ? { outage: { reason: 'usage_limit' as const } } : {};
  return {
    ...withHope(words, http_status, {
      ...attemptsIn(text(message) ?? ''),
    }),
    ...limited,
  };
};

/**
 * Reads the failure of a turn from the Codex adapter, which sends it in updates and responses to clients that announce
 * support in `initialize`; to others it sends the error as a message of the agent.
 */
export const failureIn = (meta: unknown): Notice | undefined => {
  const { sessionFailure } = record(record(record(meta).jetbrains).air);
  const { severity, title, category, actions } = record(sessionFailure);
  const message = text(title);
  // For example a notice about its settings.
  if (message === undefined || (severity === 'warning' && category === 'unknown')) return undefined;
  if (severity === 'warning') return { trouble: { message, ...attemptsIn(message) } };
  const isOver = list(actions).includes('new_session');
  const reason = isOver && category === 'limit' ? undefined : OUTAGES.get(text(category) ?? '');
  return { failed: message, ...(reason && { outage: { reason } }) };
};

const OUTAGES = new Map<string, Outage['reason']>([
  ['limit', 'usage_limit'],
  ['access', 'login'],
  ['connection', 'model_unavailable'],
  ['service', 'model_unavailable'],
]);

const attemptsIn = (message: string): Partial<Trouble> => {
  const [, attempt, attempts] = /(\d+)\/(\d+)/.exec(message) ?? [];
  return attempt === undefined ? {} : { attempt: Number(attempt), attempts: Number(attempts) };
};

const statusIn = (info: unknown): number | undefined =>
  number(record(Object.values(record(info))[0]).httpStatusCode);

const count = (name: 'attempt' | 'attempts', value: unknown): Partial<Trouble> =>
  number(value) === undefined ? {} : { [name]: number(value) };

// Errors that a retry does not fix.
const HOPELESS = new Map([
  [401, `The agent's model rejected the credential (401). ${LOG_IN}`],
  [403, "The agent's model denied access (403)."],
  [404, "The agent's model was not found (404): check its name and address."],
]);

const withHope = (message: string, status: number | undefined, more: Partial<Trouble>): Notice => {
  const why = status === undefined ? undefined : HOPELESS.get(status);
  if (why !== undefined)
    return {
      hopeless: `${why} ${message}`,
      ...(status === 401 && { outage: { reason: 'login' as const } }),
    };
  return { trouble: { message, ...(status !== undefined && { http_status: status }), ...more } };
};
