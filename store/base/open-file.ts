import { closeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** Runs work with an open file and closes it. */
export const whileOpen = <T>(descriptor: number, work: (descriptor: number) => T): T => {
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** The same for work that takes time: the file is closed once it is done. */
export const withDescriptor = async (
  descriptor: number,
  work: (descriptor: number) => Promise<void>,
): Promise<void> => {
  try {
    await work(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/** The same for a handle. */
export const withHandle = async <T>(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> => {
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
};
