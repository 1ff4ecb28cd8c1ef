import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { hasCode } from './durable.ts';

/** Whether a path, relative ones taken from `root`, lies in `root` once links are resolved. It need not exist yet. */
export const isInside = (root: string, path: string): boolean => {
  const top = realpathSync(root);
  const real = resolveLinks(resolve(top, path));
  return real === top || real.startsWith(top + sep);
};

const resolveLinks = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) return path;
    return join(resolveLinks(dirname(path)), basename(path));
  }
};
