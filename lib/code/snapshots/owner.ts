import type { Checkout } from '../../tools/git/run/git.ts';

/** How the names of refs begin that keep something of this checkout: whose it is. */
export const refOwner = ({ case_id }: Pick<Checkout, 'case_id'>): string =>
  case_id === undefined ? '' : `${case_id.slice(0, 8)}-`;
