import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import type { Layout } from '../layout.ts';
import { placeAt } from '../text/complaints.ts';
import { mapOf, parseFrontMatter } from '../text/front-matter.ts';
import type { TextPosition } from '../text/problem.ts';
import { readRegularFile } from '../text/record-file.ts';
import { decodeRecord } from '../text/text.ts';
import { split } from './keys.ts';

/** Where each of these settings stands in workspace.md; one that was taken away is nowhere. */
export const placesOf = (layout: Layout, keys: readonly string[]): Map<string, TextPosition> => {
  try {
    const bytes = readRegularFile(layout.root, layout.settings);
    if (bytes === undefined) return new Map();
    const source = parseFrontMatter(decodeRecord(bytes));
    return new Map(
      keys.flatMap((key): [string, TextPosition][] => {
        const offset = offsetOf(mapOf(source.document), key);
        return offset === undefined ? [] : [[key, placeAt(source, offset)]];
      }),
    );
  } catch {
    // What cannot be read now is told as a problem of the file.
    return new Map();
  }
};

const offsetOf = (top: YAMLMap, key: string): number | undefined => {
  const [first, name] = split(key);
  const pair = pairOf(top, first);
  const found = name === undefined ? pair : pairOf(pair?.value, name);
  return isScalar(found?.key) ? found.key.range?.[0] : undefined;
};

const pairOf = (map: unknown, name: string): Pair | undefined =>
  isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined;
