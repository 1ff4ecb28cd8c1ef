import { orElse } from '../../base/attempt.ts';
import { placeIfThere } from '../../front-matter/complaints.ts';
import { parseFrontMatter } from '../../front-matter/front-matter.ts';
import type { TextPosition } from '../../front-matter/problem.ts';
import { readRegularFile } from '../../front-matter/record-file.ts';
import { decodeRecord } from '../../front-matter/text.ts';
import type { Layout } from '../../layout.ts';
import { split } from './keys.ts';

/** Where each of these settings stands in workspace.md; one that was taken away is nowhere. */
export const placesOf = (layout: Layout, keys: readonly string[]): Map<string, TextPosition> => {
  // What cannot be read now is told as a problem of the file.
  const bytes = orElse(() => readRegularFile(layout.root, layout.settings), undefined);
  const source = bytes && orElse(() => parseFrontMatter(decodeRecord(bytes)), undefined);
  if (source === undefined) return new Map();
  return new Map(
    keys.flatMap((key): [string, TextPosition][] => {
      const path = split(key).filter((name) => name !== undefined);
      const place = placeIfThere(source, path);
      return place === undefined ? [] : [[key, place]];
    }),
  );
};
