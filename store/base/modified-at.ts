import type { Stats } from 'node:fs';

/**
 * When a file was modified, in milliseconds since the epoch. File systems keep times beyond the years 0 to 9999, of which no
 * record can tell: the nearest one within them.
 */
export const modifiedAt = ({ mtimeMs }: Stats): number =>
  Math.min(Math.max(mtimeMs, EARLIEST), LATEST);

const EARLIEST = Date.parse('0000-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
