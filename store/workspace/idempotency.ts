import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { isDone, orElseUnlessDiskFault } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import type { IdempotentCall } from '../base/new-id.ts';
import { sha256 } from '../base/sha256.ts';
import { writeStage } from '../base/write-stage.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { dropTemporary } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import { unlinkIfThere } from '../fs/remove.ts';
import { syncDirectory, writeSynced } from '../fs/synced.ts';
import type { Layout } from '../layout.ts';
import { readyToWrite, type Store } from '../store.ts';

/** The saved response to a request with an idempotency key. */
interface SavedResponse {
  status: number;
  headers: Record<string, string>;
  etag?: string;
  body?: string;
}

/** A request with an idempotency key. */
export interface KeyedCall {
  /** Chosen by the client. Its hash names the file. */
  key: string;
  /** The hash of the request; for an upload, a function that resolves once the body was read. */
  said: string | (() => Promise<string>);
  /** Runs the request; `again` is true if the daemon died during an earlier attempt. */
  make: (call: IdempotentCall) => Promise<SavedResponse>;
}

type KeyedResult = { answer: SavedResponse; isFirst: boolean } | 'in_use' | 'mismatch';

/**
 * The first responses to requests with an idempotency key, kept for 24 hours. A request is recorded on disk before it runs,
 * and its response before it is sent. A failed request is forgotten if it wrote nothing; otherwise a repetition finds what
 * it wrote by the ids that are derived from its seed.
 */
export interface IdempotencyStore {
  once(call: KeyedCall): Promise<KeyedResult>;
}

interface KeptRequest {
  at: string;
  seed: string;
  said?: string;
  answer?: SavedResponse;
}

const KEEP_MS = 86_400_000;

export const createIdempotencyStore = (store: Store, most: Limits = LIMITS): IdempotencyStore => {
  const { layout, clock } = store;
  const underWay = new Set<string>();
  const responses = createResponseFiles(layout, most);
  const answerTo = async (name: string, call: KeyedCall): Promise<KeyedResult> => {
    const known = readKept(layout, name, clock());
    const saysOther = async (): Promise<boolean> =>
      known?.said !== undefined &&
      known.said !== (await requestHash(call, known.answer !== undefined));
    if (await saysOther()) return 'mismatch';
    if (known?.answer !== undefined) return { answer: known.answer, isFirst: false };
    if (known !== undefined) return make(name, call, known, true);
    const said = await requestHash(call, false);
    const at = clock().toISOString();
    return make(name, call, { at, seed: randomUUID(), ...(said !== undefined && { said }) });
  };
  const make = async (
    name: string,
    call: KeyedCall,
    kept: KeptRequest,
    again = false,
  ): Promise<KeyedResult> => {
    await readyToWrite(store);
    responses.makeRoom(clock());
    await responses.put(name, kept);
    try {
      const answer = await call.make({ seed: kept.seed, again });
      const said = await requestHash(call, true);
      // A response that cannot be saved is sent all the same: a repetition gives the same response.
      await responses
        .put(name, { ...kept, ...(said !== undefined && { said }), answer })
        .catch((error: unknown) => store.report(error, 'saving the response to a keyed request'));
      return { answer, isFirst: true };
    } catch (error) {
      if (!again && (isRefusal(error) || writeStage() !== 'placed')) responses.drop(name);
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

// A refused request wrote nothing, so a repetition may run again.
const isRefusal = (error: unknown): boolean => {
  if (error instanceof StoreError) return error.code !== 'may_be_written';
  return error instanceof Error && 'status' in error && Number(error.status) < 500;
};

const isYoung = ({ at }: KeptRequest, now: Date): boolean =>
  now.getTime() - Date.parse(at) < KEEP_MS;

const fileOf = ({ answers }: Layout, name: string): string => join(answers, `${name}.json`);

// The hash of an upload is known once its body was read.
const requestHash = async ({ said }: KeyedCall, isOver: boolean): Promise<string | undefined> => {
  if (typeof said === 'string') return said;
  return isOver ? said() : undefined;
};

// A damaged file is ignored. A disk fault is thrown, since the file may say that the request ran.
const readKept = (layout: Layout, name: string, now: Date): KeptRequest | undefined =>
  orElseUnlessDiskFault(() => {
    const bytes = readRegularFile(layout.root, fileOf(layout, name));
    const kept = bytes && (JSON.parse(bytes.toString('utf8')) as KeptRequest);
    return kept && isYoung(kept, now) ? kept : undefined;
  }, undefined);

interface Limits {
  files: number;
  bytes: number;
}

const LIMITS: Limits = { files: 10_000, bytes: 67_108_864 };

interface ResponseFile {
  at: number;
  bytes: number;
}

/** The saved responses, oldest first. Beyond the limits the oldest are removed early. */
const createResponseFiles = (layout: Layout, most: Limits) => {
  let all: Map<string, ResponseFile> | undefined;
  const known = (): Map<string, ResponseFile> => {
    all ??= new Map(filesOf(layout).toSorted(([, a], [, b]) => a.at - b.at));
    return all;
  };
  const drop = (name: string): void => {
    // A file that cannot be removed makes a repetition run with the same ids, which is safe.
    if (isDone(() => unlinkIfThere(fileOf(layout, name)))) known().delete(name);
  };
  return {
    drop,
    put: async (name: string, kept: KeptRequest): Promise<void> => {
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

const filesOf = (layout: Layout): [string, ResponseFile][] =>
  listDirectory(layout.answers).flatMap((file): [string, ResponseFile][] => {
    const stats = statsAt(join(layout.answers, file));
    if (stats === undefined || !file.endsWith('.json')) return [];
    return [[file.slice(0, -'.json'.length), { at: stats.mtimeMs, bytes: stats.size }]];
  });
