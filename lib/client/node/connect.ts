import { connect as connectBy, type Dossier, type Options } from '../client.ts';
import { createLocalFetch } from './local-fetch.ts';
import { findSocket } from './socket-path.ts';

export * from '../client.ts';

/** Creates a client that calls the daemon by its Unix socket if it has one, otherwise by TCP. */
export const connect = (options: Options = {}): Dossier => {
  const { env } = process;
  const { socket, fetch = createLocalFetch((url) => socket ?? findSocket(url, env)) } = options;
  return connectBy({ ...options, fetch });
};
