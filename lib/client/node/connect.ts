import { connect as connectBy, type Dossier, type Options } from '../client.ts';
import { createLocalFetch } from './local-fetch.ts';
import { findSocket } from './socket-path.ts';

export * from '../client.ts';

/** As in a page, but by the daemon's socket where it has one. */
export const connect = (options: Options = {}): Dossier => {
  const { env } = process;
  const { socket, fetch = createLocalFetch((url) => socket ?? findSocket(url, env)) } = options;
  return connectBy({ ...options, fetch });
};
