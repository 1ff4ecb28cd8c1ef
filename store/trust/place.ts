import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import { orElse } from '../../base/or-else.ts';
import type { Layout } from '../layout.ts';
import { placeAt } from '../text/complaints.ts';
import { mapOf, parseFrontMatter } from '../text/front-matter.ts';
import type { TextPosition } from '../text/problem.ts';
import { readRegularFile } from '../text/record-file.ts';
import { decodeRecord } from '../text/text.ts';
import { split } from './keys.ts';

/** Where each of these settings stands in workspace.md; one that was taken away is nowhere. */
export const placesOf = (layout: Layout, keys: readonly string[]): Map<string, TextPosition> => {
  // What cannot be read now is told as a problem of the file.
  const bytes = orElse(() => readRegularFile(layout.root, layout.settings), undefined);
  const source = bytes && orElse(() => parseFrontMatter(decodeRecord(bytes)), undefined);
  if (source === undefined) return new Map();
  return new Map(
    keys.flatMap((key): [string, TextPosition][] => {
      const offset = offsetOf(mapOf(source.document), key);
      return offset === undefined ? [] : [[key, placeAt(source, offset)]];
    }),
  );
};

const offsetOf = (top: YAMLMap, key: string): number | undefined => {
  const [first, name] = split(key);
  const pair = pairOf(top, first);
  const found = name === undefined ? pair : pairOf(pair?.value, name);
  return isScalar(found?.key) ? found.key.range?.[0] : undefined;
};

const pairOf = (map: unknown, name: string): Pair | undefined =>
  isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined;
