import { createHash } from 'node:crypto';

/** The hash as lower-case hexadecimal digits. */
export const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');
