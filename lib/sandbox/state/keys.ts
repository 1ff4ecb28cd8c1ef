import { orElse } from '../../../base/or-else.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The text of a JSON file with the values that a run changed, at the paths that are listed: only where the value was
 * there before, is still what the run began with, and is no object. Undefined when nothing is to change.
 */
export const mergeKeys = (
  texts: { before: string; now: string; after: string },
  paths: readonly string[],
): string | undefined => {
  const [before, now, after] = [texts.before, texts.now, texts.after].map((text) =>
    orElse((): unknown => JSON.parse(text), undefined),
  );
  if (!isObject(before) || !isObject(now) || !isObject(after)) return undefined;
  let changed = false;
  for (const path of paths.flatMap((pattern) => leaves(now, pattern.split('.')))) {
    const [was, is, becomes] = [before, now, after].map((root) => valueAt(root, path));
    if (is !== was || becomes === was || typeof becomes !== typeof was || isObject(becomes))
      continue;
    setAt(now, path, becomes as Json);
    changed = true;
  }
  return changed ? JSON.stringify(now, null, indentOf(texts.now)) : undefined;
};

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null;

/** The paths that a pattern stands for in a value: `*` is any key that is there. */
const leaves = (root: unknown, [key, ...rest]: string[]): string[][] => {
  if (key === undefined) return isObject(root) ? [] : [[]];
  if (!isObject(root)) return [];
  const keys = Object.keys(root).filter((name) => key === '*' || name === key);
  return keys.flatMap((name) => leaves(root[name], rest).map((path) => [name, ...path]));
};

const valueAt = (root: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );

const setAt = (root: Record<string, Json>, path: readonly string[], value: Json): void => {
  const holder = valueAt(root, path.slice(0, -1)) as Record<string, Json>;
  holder[path.at(-1) as string] = value;
};

const indentOf = (text: string): number => /^\{\n( +)/.exec(text)?.[1]?.length ?? 0;
