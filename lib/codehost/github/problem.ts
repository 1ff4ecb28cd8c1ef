import { type ErrorCode, ServiceError } from '../../errors.ts';
import { list, record, text } from '../../text/unknown-json.ts';
import type { Failure, HostAnswer, RequestContext } from './failure.ts';
import {
  conflicting,
  forbidden,
  gone,
  hostFailed,
  type Make,
  movedRefusal,
  notFoundOnHost,
  notGitHub,
  rateLimited,
  rejected,
  ssoRequired,
  timedOut,
  tooLarge,
  unauthorized,
  unreachable,
} from './refusals.ts';

/** Converts a failure to a ServiceError with a code and what to do next. Rate limits take precedence. */
export const problemFrom = (
  failure: Failure,
  question: RequestContext,
  now: () => Date = () => new Date(),
): ServiceError => {
  if (failure.kind === 'timeout') return timedOut(failure.seconds, question);
  if (failure.kind === 'too_large') return tooLarge(failure.bytes, question);
  if (failure.kind === 'unreachable') return unreachable(failure.cause, question);
  const told = normalize(failure);
  const [, make] = RULES.find(([fits]) => fits(told)) ?? [undefined, rejected];
  return make(told, question, now());
};

const normalize = (failure: Extract<Failure, { kind: 'answer' | 'errors' }>): HostAnswer => {
  const { headers } = failure;
  const numbered = Boolean(headers['x-github-request-id']);
  if (failure.kind === 'errors') {
    const errors = failure.errors.map(record);
    const words = errors.map(({ message }) => text(message) ?? '').filter(Boolean);
    const types = errors.map(({ type }) => text(type) ?? '');
    const message = words.join(' ');
    return { status: 200, headers, message, details: [], types, numbered, isJson: true };
  }
  const body = record(failure.body);
  const details = list(body.errors).map(detailOf).filter(Boolean);
  const message = text(body.message) ?? '';
  const isJson = typeof failure.body === 'object' && failure.body !== null;
  return { status: failure.status, headers, message, details, types: [], numbered, isJson };
};

const detailOf = (error: unknown): string => {
  const { message, resource, field, code } = record(error);
  return (
    text(error) ??
    text(message) ??
    [resource, field, code]
      .map((part) => text(part) ?? '')
      .filter(Boolean)
      .join(' ')
  );
};

const SECONDARY = /secondary rate limit|abuse detection/i;
const SSO = /SAML enforcement|single sign-on/i;

const isLimit = ({ status, headers, types, message }: HostAnswer): boolean =>
  status === 429 ||
  types.includes('RATE_LIMITED') ||
  (status === 403 &&
    (headers['retry-after'] !== undefined ||
      String(headers['x-ratelimit-remaining']) === '0' ||
      SECONDARY.test(message)));

const isForeign = ({ status, numbered, isJson }: HostAnswer): boolean =>
  !numbered && ([401, 407].includes(status) || !isJson);

const isRedirect = ({ status }: HostAnswer): boolean => [301, 302, 303, 307, 308].includes(status);

const isForbidden = ({ status, types }: HostAnswer): boolean =>
  [403, 451].includes(status) || types.some((type) => type.startsWith('FORBIDDEN'));

const asksForSso = (told: HostAnswer): boolean =>
  isForbidden(told) &&
  (String(told.headers['x-github-sso'] ?? '').startsWith('required') || SSO.test(told.message));

// The first rule that matches applies.
const RULES: readonly (readonly [fits: (told: HostAnswer) => boolean, make: Make])[] = [
  [isLimit, rateLimited],
  [isRedirect, movedRefusal],
  [isForeign, notGitHub],
  [({ status }) => status === 401, unauthorized],
  [asksForSso, ssoRequired],
  [isForbidden, forbidden],
  [({ status, types }) => status === 404 || types.includes('NOT_FOUND'), notFoundOnHost],
  [({ status }) => status === 410, gone],
  [({ status }) => status === 409, conflicting],
  [({ status }) => status >= 500 || status === 408, hostFailed],
  [({ status, isJson }) => status < 400 && !isJson, notGitHub],
];

/** Whether an error is a ServiceError with one of these codes. */
export const hasErrorCode = (error: unknown, ...codes: ErrorCode[]): error is ServiceError =>
  error instanceof ServiceError && codes.includes(error.code);
