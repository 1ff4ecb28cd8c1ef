import { ServiceError } from '../../errors.ts';
import type { RequestContext } from './failure.ts';
import { outcome, UNKNOWN } from './refusals.ts';

/** Nothing came within the time. */
export const timedOut = (seconds: number, { host, write }: RequestContext): ServiceError =>
  new ServiceError(
    'codehost_timeout',
    `${host} did not answer within ${seconds} s. ${write ? UNKNOWN : 'Try again later.'}`,
    { members: outcome(write) },
  );

// By these nothing was sent yet.
const UNSENT = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'ENETDOWN'],
]);

/** No connection came about, or it broke. */
export const silence = (cause: unknown, { host, base, write }: RequestContext): ServiceError => {
  const { code, message } = deepest(cause);
  const host_status = refusedByProxy(code, message);
  if (host_status !== undefined) {
    const detail = `The proxy on the way to ${host} refused (${host_status}). Look at HTTPS_PROXY and the login it asks for.`;
    return new ServiceError('codehost_gateway', detail, { members: { host_status } });
  }
  const open = write && !UNSENT.has(code);
  return new ServiceError(
    'codehost_unreachable',
    `${host} is out of reach at ${base} (${code || message || 'the connection broke'}). ${open ? UNKNOWN : 'Look at the network, and at HTTPS_PROXY if you need one; then try again.'}`,
    { members: outcome(open) },
  );
};

// An error of fetch that has neither a code nor words is what it makes of a 407.
const refusedByProxy = (code: string, message: string): number | undefined => {
  if (code === '' && message === '') return 407;
  const [, status] = /Proxy response \(?(\d+)\)?/i.exec(message) ?? [];
  return status === undefined ? undefined : Number(status);
};

const DEEPEST = 5;

const deepest = (error: unknown, depth = 0): { code: string; message: string } => {
  const { code, message, cause, errors } = (error ?? {}) as NodeJS.ErrnoException & {
    errors?: unknown[];
  };
  const inner = cause ?? errors?.[0];
  if (inner !== undefined && depth < DEEPEST) return deepest(inner, depth + 1);
  return { code: code ?? '', message: message ?? '' };
};
