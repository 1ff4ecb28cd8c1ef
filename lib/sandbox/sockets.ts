import { readFileSync, statSync } from 'node:fs';

/**
 * The sockets of the machine that have a path, each one that can be seen now: to connect to one, read access to its
 * directory is enough. None where there is no /proc to ask.
 */
export const socketPaths = (): string[] => {
  const found = table().flatMap((line) => PATH.exec(line)?.[1] ?? []);
  return [...new Set(found)].filter(isSocket);
};

const PATH = / (\/.*)$/;

const table = (): string[] => {
  try {
    return readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
};

const isSocket = (path: string): boolean => {
  try {
    return statSync(path).isSocket();
  } catch {
    // Gone, or not to be reached by whoever asks, and so by no run either.
    return false;
  }
};
