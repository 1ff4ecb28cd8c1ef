import { openSync, readSync } from 'node:fs';
import { whileOpen } from '../../../store/base/open-file.ts';

let buffer = Buffer.allocUnsafeSlow(16_384);

/** Reads a file of /proc, whose size is unknown. Reuses one buffer, because hundreds are read in a row. */
export const readProcFile = (path: string): string =>
  whileOpen(openSync(path, 'r'), (file) => {
    let length = 0;
    for (;;) {
      const read = readSync(file, buffer, length, buffer.length - length, null);
      if (read === 0) return buffer.toString('latin1', 0, length);
      length += read;
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(length)]);
    }
  });
