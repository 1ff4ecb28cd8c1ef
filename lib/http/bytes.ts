import type { Readable } from 'node:stream';
import { ServiceError } from '../errors.ts';

export interface BodyLimits {
  maxBytes: number;
  /** How long the body may take, in milliseconds. */
  patienceMs: number;
}

/**
 * How hapi hands a body over unread. It would judge the type itself, and keep an oversize answer back for as long as the
 * client cares to send.
 */
export const UNREAD = {
  parse: false,
  output: 'stream',
  maxBytes: Number.MAX_SAFE_INTEGER,
  override: 'application/octet-stream',
} as const;

/**
 * The whole body as it was sent. Throws `too_large` and `request_timeout`, but only after the client has stopped
 * sending or patience ends: an answer given earlier would be lost with the connection.
 */
export const readBytes = (body: Readable, declared: number, limits: BodyLimits): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { maxBytes, patienceMs } = limits;
    const parts: Buffer[] = [];
    let size = 0;
    const isTooLarge = () => Math.max(size, declared) > maxBytes;
    const done = (error?: ServiceError) => {
      clearTimeout(timer);
      if (isTooLarge()) reject(tooLarge(maxBytes));
      else if (error !== undefined) reject(error);
      else resolve(Buffer.concat(parts));
    };
    const timer = setTimeout(() => done(tooSlow(patienceMs)), patienceMs);
    body.on('data', (part: Buffer) => {
      size += part.length;
      if (!isTooLarge()) parts.push(part);
    });
    body.on('end', () => done());
    body.on('error', () => done(brokenOff()));
    body.on('close', () => body.readableEnded || done(brokenOff()));
  });

export const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `Send ${maxBytes} bytes or fewer.`, {
    members: { max_bytes: maxBytes },
  });

export const tooSlow = (patienceMs: number) =>
  new ServiceError('request_timeout', `Send the whole body within ${patienceMs / 1000} seconds.`);

export const brokenOff = () => new ServiceError('bad_request', 'The body broke off.');
