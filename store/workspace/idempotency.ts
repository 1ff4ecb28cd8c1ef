import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDone, orElseUnlessFault } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { sha256 } from '../base/sha256.ts';
import { writeStage } from '../base/write-stage.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { dropTemporary } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { syncDirectory, writeSynced } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import type { MadeOnce } from '../reconcile/new-id.ts';
import { readyToWrite, type Store } from '../store.ts';

/** What was answered to a call, as it is sent again. */
export interface FirstAnswer {
  status: number;
  headers: Record<string, string>;
  etag?: string;
  body?: string;
}

/** A call that is made once, however often it is sent. */
export interface OnceCall {
  /** As the client made it up. Its hash names the file. */
  key: string;
  /** The hash of all that the call says; of one whose body is read while it is made, once that is known. */
  said: string | (() => Promise<string>);
  /** `again` when it is made again because the daemon died before it had answered. */
  make: (call: MadeOnce) => Promise<FirstAnswer>;
}

export type Once = { answer: FirstAnswer; isFirst: boolean } | 'in_use' | 'mismatch';

/**
 * The first answers to calls that carry a key, kept for 24 hours. A call is noted on disk before it is made, and its answer
 * before it is sent. One that fails is forgotten where nothing came of it; else what came of it is found by its seed when
 * it is sent again.
 */
export interface FirstAnswers {
  once(call: OnceCall): Promise<Once>;
}

interface Kept {
  at: string;
  seed: string;
  said?: string;
  answer?: FirstAnswer;
}

const KEEP_MS = 86_400_000;

export const createFirstAnswers = (store: Store, most: Most = MOST): FirstAnswers => {
  const { layout, clock } = store;
  const underWay = new Set<string>();
  const shelf = createShelf(layout, most);
  const answerTo = async (name: string, call: OnceCall): Promise<Once> => {
    const known = readKept(layout, name, clock());
    const saysOther = async (): Promise<boolean> =>
      known?.said !== undefined && known.said !== (await saidBy(call, known.answer !== undefined));
    if (await saysOther()) return 'mismatch';
    if (known?.answer !== undefined) return { answer: known.answer, isFirst: false };
    if (known !== undefined) return make(name, call, known, true);
    const said = await saidBy(call, false);
    const at = clock().toISOString();
    return make(name, call, { at, seed: randomUUID(), ...(said !== undefined && { said }) });
  };
  const make = async (name: string, call: OnceCall, kept: Kept, again = false): Promise<Once> => {
    await readyToWrite(store);
    shelf.makeRoom(clock());
    await shelf.put(name, kept);
    try {
      const answer = await call.make({ seed: kept.seed, again });
      const said = await saidBy(call, true);
      // What was made is answered, also where the answer cannot be kept: made again, it is the same.
      await shelf
        .put(name, { ...kept, ...(said !== undefined && { said }), answer })
        .catch((error: unknown) => store.report(error, 'keeping the answer to a call with a key'));
      return { answer, isFirst: true };
    } catch (error) {
      if (!again && (isRefusal(error) || writeStage() !== 'placed')) shelf.drop(name);
      throw error;
    }
  };
  return {
    once: async (call) => {
      const name = sha256(call.key);
      if (underWay.has(name)) return 'in_use';
      underWay.add(name);
      try {
        return await answerTo(name, call);
      } finally {
        underWay.delete(name);
      }
    },
  };
};

// What is refused is decided: made anew, it makes nothing a second time.
const isRefusal = (error: unknown): boolean => {
  if (error instanceof StoreError) return error.code !== 'may_be_written';
  return error instanceof Error && 'status' in error && Number(error.status) < 500;
};

const isYoung = ({ at }: Kept, now: Date): boolean => now.getTime() - Date.parse(at) < KEEP_MS;

const fileOf = ({ answers }: Layout, name: string): string => join(answers, `${name}.json`);

// Of an upload it is known once all of it came.
const saidBy = async ({ said }: OnceCall, isOver: boolean): Promise<string | undefined> => {
  if (typeof said === 'string') return said;
  return isOver ? said() : undefined;
};

// One that is damaged says nothing. One that cannot be read this moment may say that the call was made.
const readKept = (layout: Layout, name: string, now: Date): Kept | undefined =>
  orElseUnlessFault(() => {
    const bytes = readRegularFile(layout.root, fileOf(layout, name));
    const kept = bytes && (JSON.parse(bytes.toString('utf8')) as Kept);
    return kept && isYoung(kept, now) ? kept : undefined;
  }, undefined);

interface Most {
  files: number;
  bytes: number;
}

const MOST: Most = { files: 10_000, bytes: 67_108_864 };

interface OnShelf {
  at: number;
  bytes: number;
}

/** The files, oldest first. Beyond what there is room for, the oldest go before their time. */
const createShelf = (layout: Layout, most: Most) => {
  let all: Map<string, OnShelf> | undefined;
  const known = (): Map<string, OnShelf> => {
    all ??= new Map(filesOf(layout).toSorted(([, a], [, b]) => a.at - b.at));
    return all;
  };
  const drop = (name: string): void => {
    // One that stays says that the call may have been made: it is made again as the same.
    if (isDone(() => rmSync(fileOf(layout, name), { force: true }))) known().delete(name);
  };
  return {
    drop,
    put: async (name: string, kept: Kept): Promise<void> => {
      const text = JSON.stringify(kept);
      const ready = join(layout.tmp, randomUUID());
      try {
        await writeSynced(ready, text, 0o600);
        renameSync(ready, fileOf(layout, name));
      } finally {
        dropTemporary(ready);
      }
      await syncDirectory(layout.answers);
      known().delete(name);
      known().set(name, { at: Date.parse(kept.at), bytes: Buffer.byteLength(text) });
    },
    makeRoom: (now: Date): void => {
      let bytes = 0;
      for (const one of known().values()) bytes += one.bytes;
      for (const [name, one] of known()) {
        const isOld = now.getTime() - one.at >= KEEP_MS;
        if (!isOld && known().size < most.files && bytes < most.bytes) return;
        bytes -= one.bytes;
        drop(name);
      }
    },
  };
};

const filesOf = (layout: Layout): [string, OnShelf][] =>
  listDirectory(layout.answers).flatMap((file): [string, OnShelf][] => {
    const stats = statsAt(join(layout.answers, file));
    if (stats === undefined || !file.endsWith('.json')) return [];
    return [[file.slice(0, -'.json'.length), { at: stats.mtimeMs, bytes: stats.size }]];
  });
