import type { PauseReason } from '../../store/records/session.ts';

/** A temporary failure of an agent's model, and when to resume, if known. */
export interface Outage {
  reason: Extract<PauseReason, 'usage_limit' | 'model_unavailable' | 'login'>;
  resume_at?: string;
}

const LIMITED = [
  /\b429\b|too many requests|usage.?limit|rate.?limit/i,
  /quota (?:is |was )?(?:exceeded|exhausted)|exceeded your (?:current )?quota|insufficient.?quota/i,
  /billing_error|credit balance|out of credits|limit reached|hit your limit/i,
];

const LOGGED_OUT = [
  /(?:status|error|code|http)\W{0,9}401\b|\b401 unauthorized|authentication.?(?:error|required|failed)|not logged in|please run \/login/i,
  /(?:invalid|incorrect|missing) (?:api|x-api|auth)[ _-]?(?:key|token)|expired (?:token|credential)/i,
];

const UNAVAILABLE = [
  /(?:status|error|code|http)\W{0,9}(?:50[0234]|529)\b|overloaded|internal server error|bad gateway|service unavailable|gateway time-?out/i,
  /stream (?:disconnected|error|ended|closed)|connection (?:error|refused|reset|closed|lost)/i,
  /\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTFOUND)\b|fetch failed|socket hang up|premature close/i,
  // fetch of Node.js, where a response is cut off.
  /other side closed|\(terminated\)/i,
];

/**
 * Recognizes a temporary failure of the model in an error text; undefined if there is none. Sets `resume_at` only if the text
 * has a complete time or a duration.
 */
export const outageIn = (error: string, now: Date): Outage | undefined => {
  const says = (patterns: readonly RegExp[]): boolean => patterns.some((one) => one.test(error));
  if (says(LIMITED)) {
    const at = toldMoment(error) ?? toldWait(error, now);
    return { reason: 'usage_limit', ...(at !== undefined && { resume_at: at }) };
  }
  if (says(LOGGED_OUT)) return { reason: 'login' };
  return says(UNAVAILABLE) ? { reason: 'model_unavailable' } : undefined;
};

/**
 * The error of its model that an agent sends as its message, or at the end of one that was cut off, before it ends its turn as
 * usual; undefined for other messages.
 */
export const modelErrorIn = (message: string): string | undefined => MODEL_ERROR.exec(message)?.[0];

// Of Gemini CLI and Qwen Code, which also exit with 0 then.
const MODEL_ERROR =
  /^\[API Error: [\s\S]{0,1000}|\[API Error: (?:terminated|fetch failed|premature close|socket hang up)[\s\S]{0,1000}\]\s*$/;

/** Converts seconds since the epoch; undefined for an implausible number. */
export const momentOf = (seconds: number | undefined): string | undefined =>
  seconds !== undefined && seconds >= EARLIEST && seconds <= LATEST
    ? new Date(Math.round(seconds * 1000)).toISOString()
    : undefined;

// From 2020 to 2100.
const EARLIEST = 1_577_836_800;
const LATEST = 4_102_444_800;

const toldMoment = (error: string): string | undefined => {
  const iso = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))/.exec(
    error,
  )?.[1];
  const epoch = /(?:\||resets?_?at\W{1,4})(\d{10})\b/i.exec(error)?.[1];
  return momentOf(Date.parse(iso ?? '') / 1000) ?? momentOf(Number(epoch));
};

const toldWait = (error: string, now: Date): string | undefined => {
  const wait = /(?:again|reset[s]?|retry|available)[- ](?:after|in):? (.{1,40})/i.exec(error)?.[1];
  const parts = [...(wait ?? '').matchAll(/(\d{1,6}(?:\.\d+)?) ?(d|h|m(?!s)|s)[a-z]*/gi)];
  const seconds = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (SECONDS[unit.toLowerCase()] ?? 0),
    0,
  );
  return seconds === 0 ? undefined : momentOf(Math.ceil(now.getTime() / 1000 + seconds));
};

const SECONDS: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 };
