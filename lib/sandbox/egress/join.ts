import type { Duplex } from 'node:stream';

/** Passes on what either side sends, and its end, until both have ended or one has failed. */
export const join = (near: Duplex, far: Duplex): void => {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => {
      if (one.readableEnded) other.end();
      else other.destroy();
    });
  }
};
