import type { WithLog } from '../../log.ts';
import { onceEach } from '../../sandbox/egress/doors.ts';
import type { WithNetwork } from '../../sandbox/egress/networks.ts';
import type { OpenNetwork } from '../../sandbox/egress/run-network.ts';
import type { LanguageServer } from './server.ts';

/**
 * Begins a language server that has a way out of its own until it ends. What it reaches and what it is refused is in the
 * log, each goal once for each outcome: it belongs to no session whose stream could tell it.
 */
export const withNetwork = (
  { network: door, log }: WithLog & WithNetwork,
  of: { language: string; root: string },
  begin: (network: OpenNetwork) => LanguageServer,
): LanguageServer => {
  const tell = onceEach((told) => {
    if (told.allowed) log.info({ ...of, ...told }, 'A language server reached the network');
    else log.warn({ ...of, ...told }, 'A language server was refused the network');
  });
  const network = door().open({ given: {}, token: undefined, tell });
  try {
    const server = begin(network);
    void server.exited.then(network.close);
    return server;
  } catch (error) {
    void network.close();
    throw error;
  }
};
