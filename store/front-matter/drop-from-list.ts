import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isPair, isSeq, type Node } from 'yaml';
import { orElse } from '../base/attempt.ts';
import { type FrontMatter, joinFrontMatter, mapOf, parseFrontMatter } from './front-matter.ts';
import { spliceFrontMatter } from './splice.ts';

/** The file without one element of a list in its front matter. All other lines stay; comments inside the element go. */
export const dropFromList = (source: FrontMatter, key: string, at: number): string => {
  const rest = (source.data[key] as unknown[]).filter((_, index) => index !== at);
  const text = joinFrontMatter({ ...source, yaml: without(source, key, at) });
  const again = orElse(() => parseFrontMatter(text), undefined);
  // Removing the last line of a block list leaves the key without a value.
  const data = again && { ...again.data, [key]: again.data[key] ?? [] };
  const isSo =
    again?.body === source.body && isDeepStrictEqual(data, { ...source.data, [key]: rest });
  return isSo ? text : spliceFrontMatter(source, { [key]: rest });
};

const without = ({ yaml, document }: FrontMatter, key: string, at: number): string => {
  const list: unknown = mapOf(document).get(key);
  const element = isSeq(list) ? list.items[at] : undefined;
  if (!isSeq(list) || !isNode(element)) return yaml;
  const [start, end] = [element.range?.[0] ?? 0, endOf(element)];
  if (list.flow !== true) {
    const next = yaml.indexOf('\n', end) + 1 || yaml.length;
    return (
      yaml.slice(0, yaml.lastIndexOf('\n', start - 1) + 1) +
      yaml.slice(isLineEnd(yaml, end) ? end : next)
    );
  }
  const [after = ''] = /^\s*,[ \t]*/.exec(yaml.slice(end)) ?? [];
  const before = after === '' ? yaml.slice(0, start).replace(/,\s*$/, '') : yaml.slice(0, start);
  return before + yaml.slice(end + after.length);
};

const isLineEnd = (yaml: string, at: number): boolean => yaml[at - 1] === '\n';

// The parser counts comments that follow as part of a node.
const endOf = (node: Node): number => {
  const isLong = (isMap(node) || isSeq(node)) && node.flow !== true;
  const last: unknown = isLong ? node.items.at(-1) : undefined;
  const inner = isPair(last) ? (last.value ?? last.key) : last;
  return isNode(inner) ? endOf(inner) : (node.range?.[1] ?? 0);
};
