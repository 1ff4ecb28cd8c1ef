import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeyRef } from './local-only.ts';

/** The valid API key of these headers, as `readKey` reads it now. */
export type KeyOf = (headers: IncomingHttpHeaders) => Promise<ApiKeyRef | undefined>;

const LOOK_MS = 1000;

/**
 * Calls `end` once the API key of an open connection is revoked: by the API, or beside the daemon with `dossier key` or `rm`,
 * which only a look at its file shows. Returns a function that ends the watch.
 */
export const watchKey = (
  headers: IncomingHttpHeaders,
  keyOf: KeyOf,
  end: () => void,
): (() => void) => {
  if (headers.authorization === undefined && headers.cookie === undefined) return () => undefined;
  const idOf = () =>
    keyOf(headers).then(
      (key) => key?.id,
      () => 'revoked',
    );
  const first = idOf();
  const look = async (): Promise<void> => {
    const [before, now] = [await first, await idOf()];
    if (now === 'revoked' || now !== before) end();
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
};
