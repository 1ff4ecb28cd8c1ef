import { sep } from 'node:path';

/** Whether a path is a directory or lies in it; both absolute and without links. */
export const lies = (path: string, directory: string): boolean =>
  `${path}${sep}`.startsWith(`${directory}${sep}`);

/** Whether one of two directories lies in the other, or they are the same. */
export const overlap = (one: string, other: string): boolean =>
  lies(one, other) || lies(other, one);
