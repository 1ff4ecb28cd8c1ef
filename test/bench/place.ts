import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const places = new Set<string>();

/** Makes a temporary directory of this user alone, which is removed when this process ends, at the latest. */
export const makePlace = (below = tmpdir()): string => {
  const place = mkdtempSync(join(below, 'dossier-bench-'));
  places.add(place);
  return place;
};

export const removePlace = (place: string): void => {
  rmSync(place, { recursive: true, force: true });
  places.delete(place);
};

process.once('exit', () => {
  for (const place of places) removePlace(place);
});
