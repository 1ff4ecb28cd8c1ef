import { lookup } from 'node:dns/promises';
import { localityOf } from '../../sandbox/egress/address.ts';
import { isLocalName } from '../../sandbox/egress/authority.ts';

/** Where this daemon listens; undefined until it does. */
export type OwnUrl = () => string | undefined;

/** What is said of an event that would be sent to the daemon itself. */
export const OWN_ADDRESS =
  'is an address of this daemon, which sends itself no events: name the receiver that is to get them';

/** Whether a receiver is this daemon, by whatever name. A name without an address is nobody's yet. */
export const leadsToDaemon = async (own: OwnUrl, url: string): Promise<boolean> => {
  const { hostname, port, protocol } = new URL(url);
  const wanted = Number(port) || (protocol === 'https:' ? 443 : 80);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!isOwnPort(own, wanted)) return false;
  if (isLocalName(host)) return true;
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => isOwnAddress(own, address, wanted));
};

/** The same of the far end of a connection: what a name resolves to may change. */
export const isOwnAddress = (own: OwnUrl, address: string | undefined, port = 0): boolean =>
  isOwnPort(own, port) && address !== undefined && localityOf(address, []) === 'this machine';

const isOwnPort = (own: OwnUrl, port: number): boolean => {
  const url = own();
  return url !== undefined && Number(new URL(url).port) === port;
};

/** Where the API is reached; undefined until it listens. */
export interface WithAddress {
  readonly address: { url: string | undefined };
}
