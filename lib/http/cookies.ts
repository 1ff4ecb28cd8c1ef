import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../errors.ts';

// New at each start of the daemon: a form that was loaded before has to be loaded again.
const SECRET = randomBytes(32);

/**
 * The CSRF token of this browser's forms, an HMAC of a SameSite and HttpOnly cookie. `cookie` is the header to set if the
 * browser has none yet.
 */
export const formKey = (
  cookies: string | undefined,
  port: number,
): { key: string; cookie: string | undefined } => {
  const name = `dossier_${port}`;
  const known = valueIn(cookies, name, 22);
  const value = known ?? randomBytes(16).toString('base64url');
  return {
    key: createHmac('sha256', SECRET).update(value).digest('base64url'),
    cookie:
      known === undefined
        ? `${name}=${value}; Path=/dashboard; HttpOnly; SameSite=Strict`
        : undefined,
  };
};

/** Throws `form_expired` for a form without this key: from another site or browser, or from before a restart. */
export const checkForm = (
  form: URLSearchParams,
  cookies: string | undefined,
  key: string,
): void => {
  const [sent, wanted] = [Buffer.from(form.get('form_key') ?? ''), Buffer.from(key)];
  const isOurs = sent.length === wanted.length && timingSafeEqual(sent, wanted);
  if (cookies !== undefined && isOurs) return;
  throw new ServiceError(
    'form_expired',
    'The form was loaded before the daemon was restarted, or in another browser. Nothing was changed. Send it again from this page.',
  );
};

// All ports of a host share cookies, so each name contains the port.
const valueIn = (cookies: string | undefined, name: string, length: number) =>
  cookies === undefined
    ? undefined
    : new RegExp(`(?:^|;\\s*)${name}=([\\w-]{${length}})(?:;|$)`).exec(cookies)?.[1];

const nameFor = (port: number): string => `dossier_session_${port}`;

/** The value of this daemon's session cookie, or undefined. */
export const readSessionCookie = (cookies: string | undefined, port: number): string | undefined =>
  valueIn(cookies, nameFor(port), 43);

/** A session cookie for the whole API, until the browser is closed. Scripts cannot read it, and other sites cannot send it. */
export const sessionCookie = (value: string, port: number): string =>
  `${nameFor(port)}=${value}; Path=/; HttpOnly; SameSite=Strict`;
