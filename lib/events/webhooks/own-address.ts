import { lookup } from 'node:dns/promises';
import { localityOf } from '../../sandbox/egress/address.ts';
import { isLocalName } from '../../sandbox/egress/authority.ts';

/** The address on which this daemon listens; undefined until it does. */
export type OwnUrl = () => string | undefined;

/** The refusal of the daemon's own address, as words that follow the field. */
export const OWN_ADDRESS =
  'is an address of this daemon, which does not send events to itself: use the address of a receiver';

/** Whether a URL leads to this daemon, under any name. A name that does not resolve does not. */
export const resolvesToDaemon = async (own: OwnUrl, url: string): Promise<boolean> => {
  const { hostname, port, protocol } = new URL(url);
  const wanted = Number(port) || (protocol === 'https:' ? 443 : 80);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!isOwnPort(own, wanted)) return false;
  if (isLocalName(host)) return true;
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => isOwnAddress(own, address, wanted));
};

/** Whether the remote end of a connection is this daemon, since name resolution may change. */
export const isOwnAddress = (own: OwnUrl, address: string | undefined, port = 0): boolean =>
  isOwnPort(own, port) && address !== undefined && localityOf(address, []) === 'this machine';

const isOwnPort = (own: OwnUrl, port: number): boolean => {
  const url = own();
  return url !== undefined && Number(new URL(url).port) === port;
};

/** The URL of the API; undefined until the daemon listens. */
export interface WithAddress {
  readonly address: { url: string | undefined };
}
