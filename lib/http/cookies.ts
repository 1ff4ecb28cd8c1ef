import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../errors.ts';

// Of this life of the daemon: a form that was open before is sent again after it was loaded anew.
const SECRET = randomBytes(32);

/**
 * The key that a form of this browser's carries, bound to a cookie that no other site's page makes it send, and no script
 * reads. `cookie` is there when the browser has none yet.
 */
export const formKey = (
  cookies: string | undefined,
  port: number,
): { key: string; cookie: string | undefined } => {
  // Ports share their cookies: each daemon has its own.
  const name = `dossier_${port}`;
  const known = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{22})(?:;|$)`).exec(cookies ?? '')?.[1];
  const value = known ?? randomBytes(16).toString('base64url');
  return {
    key: createHmac('sha256', SECRET).update(value).digest('base64url'),
    cookie:
      known === undefined
        ? `${name}=${value}; Path=/dashboard; HttpOnly; SameSite=Strict`
        : undefined,
  };
};

/** Throws `form_expired` for a form that does not carry this key: of another site, another browser, or another life. */
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
    'The form was made before the daemon was started, or for another browser. Nothing was done: send it again from this page.',
  );
};

// Ports share their cookies: each daemon has its own.
const nameFor = (port: number): string => `dossier_session_${port}`;

/** What this daemon's cookie says; undefined without one. */
export const readSessionCookie = (cookies: string | undefined, port: number): string | undefined =>
  cookies && new RegExp(`(?:^|;\\s*)${nameFor(port)}=([\\w-]{43})(?:;|$)`).exec(cookies)?.[1];

/** For the whole API, until the browser is closed. No script reads it, and no other site's page makes it be sent. */
export const sessionCookie = (value: string, port: number): string =>
  `${nameFor(port)}=${value}; Path=/; HttpOnly; SameSite=Strict`;
