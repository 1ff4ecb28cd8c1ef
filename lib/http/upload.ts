import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ServiceError } from '../errors.ts';
import { type BodyLimits, brokenOff, tooLarge, tooSlow } from './bytes.ts';

/** A body that is not kept in memory: whoever takes it reads it as it comes. */
export interface Upload {
  /** Its Content-Type. */
  type: string;
  /** Its bytes. Throws `too_large`, `request_timeout` and `bad_request`, as readBytes does: once all has come. */
  chunks: AsyncIterable<Uint8Array>;
  /** Resolves when nothing more comes; for who does not want it, or wants its hash. */
  sha256(): Promise<string>;
}

export const isUpload = (body: unknown): body is Upload =>
  typeof body === 'object' && body !== null && 'chunks' in body;

export const uploadOf = (
  body: Readable,
  { declared, type }: { declared: number; type: string },
  limits: BodyLimits,
): Upload => {
  const hash = createHash('sha256');
  const chunks = piecesOf(body, declared, limits, (piece) => hash.update(piece));
  let digest: string | undefined;
  return {
    type,
    chunks: { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) },
    sha256: async () => {
      for await (const _ of chunks);
      digest ??= hash.digest('hex');
      return digest;
    },
  };
};

const piecesOf = async function* (
  body: Readable,
  declared: number,
  { maxBytes, patienceMs }: BodyLimits,
  see: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  const isTooLarge = () => Math.max(size, declared) > maxBytes;
  const pieces = body.iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(patienceMs)), patienceMs);
  });
  late.catch(() => undefined);
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), late]);
      if (next.done === true) break;
      const piece = next.value as Uint8Array;
      size += piece.length;
      if (isTooLarge()) continue;
      see(piece);
      yield piece;
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : brokenOff();
  } finally {
    clearTimeout(timer);
  }
  if (isTooLarge()) throw tooLarge(maxBytes);
};
