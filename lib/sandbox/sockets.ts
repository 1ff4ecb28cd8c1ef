import { readFileSync, statSync } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';

/**
 * The sockets of the machine that have a path, each one that can be seen now: to connect to one, read access to its
 * directory is enough. None where there is no /proc to ask.
 */
export const socketPaths = (): string[] => {
  const [, ...table] = orElse(() => readFileSync('/proc/net/unix', 'utf8'), '').split('\n');
  const found = table.flatMap((line) => PATH.exec(line)?.[1] ?? []);
  return [...new Set(found)].filter(isSocket);
};

const PATH = / (\/.*)$/;

// Gone, or not to be reached by whoever asks, is reached by no run either.
const isSocket = (path: string): boolean => orElse(() => statSync(path).isSocket(), false);
