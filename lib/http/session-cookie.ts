// Ports share their cookies: each daemon has its own.
const nameFor = (port: number): string => `dossier_session_${port}`;

/** What this daemon's cookie says; undefined without one. */
export const readSessionCookie = (cookies: string | undefined, port: number): string | undefined =>
  cookies && new RegExp(`(?:^|;\\s*)${nameFor(port)}=([\\w-]{43})(?:;|$)`).exec(cookies)?.[1];

/** For the whole API, until the browser is closed. No script reads it, and no other site's page makes it be sent. */
export const sessionCookie = (value: string, port: number): string =>
  `${nameFor(port)}=${value}; Path=/; HttpOnly; SameSite=Strict`;
