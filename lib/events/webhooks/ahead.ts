import type { Parcel, SendingThread, Sent } from './sending-thread.ts';

/**
 * What the sending thread sends one receiver by itself, after the delivery that is waited for: while the receiver takes all,
 * none of it waits for the daemon.
 */
export interface Ahead {
  /** Sends the first of these, and after it the others. Answers what became of the first. */
  send(thread: SendingThread, parcels: readonly Parcel[]): Promise<Sent | undefined>;
  /** Whether this delivery was among the others, and was not taken yet. */
  has(id: string): boolean;
  /** What became of it; undefined where it was not sent. */
  take(id: string): Promise<Sent | undefined>;
  /** Sends no further one. */
  cancel(): void;
}

export const createAhead = (): Ahead => {
  const answers = new Map<string, Promise<Sent | undefined>>();
  let cancel = (): void => undefined;
  return {
    send: async (thread, parcels) => {
      answers.clear();
      const run = thread.send(parcels);
      cancel = run.cancel;
      const [first, ...others] = run.answers;
      for (const [place, answer] of others.entries())
        answers.set(parcels[place + 1]?.id ?? '', answer);
      return first;
    },
    has: (id) => answers.has(id),
    take: async (id) => {
      const answer = answers.get(id);
      answers.delete(id);
      return answer;
    },
    cancel: () => cancel(),
  };
};

/** What an iterable gives, some at once: as many as there are now, up to `most`. */
export const inChunks = async function* <T>(
  all: AsyncIterable<T>,
  most: number,
): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const one of all) {
    chunk.push(one);
    if (chunk.length < most) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
};
