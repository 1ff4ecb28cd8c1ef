import { sep } from 'node:path';

/** Whether a path is a directory or lies below it; both absolute and without links. */
export const isAtOrBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** Whether one of two directories lies in the other, or they are the same. */
export const overlap = (one: string, other: string): boolean =>
  isAtOrBelow(one, other) || isAtOrBelow(other, one);
