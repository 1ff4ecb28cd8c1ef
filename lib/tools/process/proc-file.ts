import { closeSync, openSync, readSync } from 'node:fs';

let buffer = Buffer.allocUnsafeSlow(16_384);

/** A file of /proc, whose size nobody knows before: read into one buffer, because hundreds are read at a time. */
export const readProcFile = (path: string): string => {
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (;;) {
      const read = readSync(file, buffer, length, buffer.length - length, null);
      if (read === 0) return buffer.toString('latin1', 0, length);
      length += read;
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(length)]);
    }
  } finally {
    closeSync(file);
  }
};
