import { isUtf8 } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import { join, relative } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { etagOf, shortId, timeName } from '../base/names.ts';
import { whileOpen } from '../base/open-file.ts';
import { sha256 } from '../base/sha256.ts';
import { fenceFor } from '../base/text.ts';
import { recordNames } from '../front-matter/folder.ts';
import { parseFrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, Problem, toProblem } from '../front-matter/problem.ts';
import { readRegularFile, unreadable } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { textNames } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { standing, statsAt } from '../fs/plain-path.ts';
import { type Snapshot, type SnapshotEntry, SnapshotMatter } from '../records/snapshot.ts';
import { readyToWrite, type Store } from '../store.ts';

const MAX_BYTES = 16_777_216;

const check = checkerOf(SnapshotMatter);

export interface TaggedSnapshot {
  snapshot: Snapshot;
  etag: string;
}

/**
 * Saves all files of the global memory in one record; returns the existing snapshot if there is one with that id. Throws
 * `too_large` beyond 16 MiB.
 */
export const createSnapshot = async (store: Store, id: string): Promise<TaggedSnapshot> => {
  const { layout } = store;
  await readyToWrite(store);
  const known = readSnapshot(store, id);
  if (known !== undefined) return known;
  const files = readMemoryFiles(store);
  const at = store.clock();
  for (;;) {
    const matter = { id, created_at: at.toISOString(), files: files.length };
    const bytes = Buffer.concat([Buffer.from(renderFrontMatter(matter, '')), renderFiles(files)]);
    const path = join(layout.snapshots, `${timeName(at)}-${shortId(matter.id)}.md`);
    if (await createFile(layout, path, bytes)) return taggedSnapshot(matter, files, bytes);
  }
};

// Synchronous, so that no write of the API falls in between.
const readMemoryFiles = ({ layout }: Store): NamedBytes[] => {
  const names = textNames(layout.memory);
  const sizes = names.map((name) => statsAt(join(layout.memory, name))?.size ?? 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MAX_BYTES)
    throw new StoreError(
      'too_large',
      `The global memory has ${total} bytes; the limit of a snapshot is ${MAX_BYTES}. Move large files out of memory/, then try again`,
      { max_bytes: MAX_BYTES },
    );
  return names.flatMap((filename) => {
    const bytes = readRegularFile(layout.root, join(layout.memory, filename));
    return bytes === undefined ? [] : [{ filename, bytes }];
  });
};

const taggedSnapshot = (
  { id, created_at }: SnapshotMatter,
  files: readonly NamedBytes[],
  bytes: Buffer,
): TaggedSnapshot => ({
  snapshot: { id, created_at, files: files.map(servedFile) },
  etag: etagOf(sha256(bytes)),
});

const servedFile = ({ filename, bytes }: NamedBytes): Snapshot['files'][number] => {
  const content = bytes.toString('utf8');
  const hash = { sha256: sha256(bytes) };
  return bytes.equals(Buffer.from(content))
    ? { filename, content, ...hash }
    : { filename, content: bytes.toString('base64'), encoding: 'base64', ...hash };
};

/** The snapshots, oldest first, and the problems of unreadable files. */
export const readSnapshots = (
  store: Pick<Store, 'layout'>,
): { snapshots: SnapshotEntry[]; problems: FileProblem[] } => {
  const snapshots: SnapshotEntry[] = [];
  const problems: FileProblem[] = [];
  for (const name of namesOf(store)) {
    const path = join(store.layout.snapshots, name);
    try {
      snapshots.push(entryAt(store, path));
    } catch (error) {
      problems.push(fileProblem(relative(store.layout.root, path), toProblem(error)));
    }
  }
  return { snapshots: snapshots.sort(byAge), problems };
};

// Not by name, which has only the second.
const byAge = (a: SnapshotEntry, b: SnapshotEntry): number =>
  a.created_at.localeCompare(b.created_at);

const namesOf = ({ layout }: Pick<Store, 'layout'>): string[] =>
  standing(layout.root, layout.snapshots) === 'there' ? recordNames(layout.snapshots) : [];

// Enough for the front matter, so that a list does not read the whole files.
const HEAD_BYTES = 66_000;

const entryAt = ({ layout }: Pick<Store, 'layout'>, path: string): SnapshotEntry => {
  const stats = statsAt(path);
  if (stats?.isFile() !== true) throw new Problem('not_a_file', 'This is not a regular file');
  const source = parseFrontMatter(readHead(path, HEAD_BYTES).toString('utf8'));
  const { id, created_at, files } = check(source.data, source);
  return { id, created_at, files, path: relative(layout.root, path), size: stats.size };
};

const readHead = (path: string, length: number): Buffer =>
  whileOpen(openSync(path, 'r'), (descriptor) => {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0));
  });

/** One snapshot with its files; undefined if there is none. Throws `unreadable_record` if a file in it was changed. */
export const readSnapshot = (store: Store, id: string): TaggedSnapshot | undefined => {
  const entry = readSnapshots(store).snapshots.find((one) => one.id === id);
  if (entry === undefined) return undefined;
  const bytes = readRegularFile(store.layout.root, join(store.layout.root, entry.path));
  if (bytes === undefined) return undefined;
  const files = parseFiles(bodyOf(bytes));
  if (files.length === entry.files) return taggedSnapshot(entry, files, bytes);
  throw unreadable(
    entry.path,
    new Problem(
      'not_a_snapshot',
      `${files.length} of ${entry.files} files are unchanged; the rest was edited since`,
    ),
  );
};

const bodyOf = (bytes: Buffer): Buffer => {
  const { head, yaml, tail } = splitFrontMatter(bytes.toString('utf8'));
  return bytes.subarray(Buffer.byteLength(head + yaml + tail));
};

export interface NamedBytes {
  filename: string;
  bytes: Buffer;
}

/**
 * The body of a snapshot: each file under a heading, in a fence longer than any in the file. The size marks the end, also
 * without a final newline; binary files are in base64.
 */
export const renderFiles = (files: readonly NamedBytes[]): Buffer =>
  Buffer.concat([Buffer.from(INTRODUCTION), ...files.flatMap(partsOf)]);

const INTRODUCTION = `
The global memory as it was then. Each file is byte for byte between its two fences.
`;

const partsOf = ({ filename, bytes }: NamedBytes): Buffer[] => {
  const isPlain = isUtf8(bytes) && !bytes.includes(0);
  const block = isPlain ? bytes : Buffer.from(bytes.toString('base64'));
  const fence = fenceFor(block.toString('latin1'));
  const size = `${bytes.length} bytes${isPlain ? '' : BASE64}, SHA-256 ${sha256(bytes)}`;
  const end = block.at(-1) === NEWLINE ? '' : '\n';
  return [
    Buffer.from(`\n## ${filename}\n\n${size}\n\n${fence}${isPlain ? 'markdown' : 'base64'}\n`),
    block,
    Buffer.from(`${end}${fence}\n`),
  ];
};

const NEWLINE = 10;
const BASE64 = ', here in base64';

const FILE_SECTION =
  /^## ([A-Za-z0-9][A-Za-z0-9._-]*\.md)\n\n(\d+) bytes(, here in base64)?, SHA-256 ([0-9a-f]{64})\n\n`{3,}[a-z0-9]+\n/gm;

/** The files of a snapshot's body, in order, up to the first that was changed. */
export const parseFiles = (body: Buffer): NamedBytes[] => {
  // One character per byte, since sizes are in bytes.
  const text = body.toString('latin1');
  const pattern = new RegExp(FILE_SECTION);
  const files: NamedBytes[] = [];
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [, filename = '', size, encoded, hash] = found;
    const length = encoded === undefined ? Number(size) : 4 * Math.ceil(Number(size) / 3);
    const block = body.subarray(pattern.lastIndex, pattern.lastIndex + length);
    const bytes = encoded === undefined ? block : Buffer.from(block.toString('latin1'), 'base64');
    if (sha256(bytes) !== hash) break;
    files.push({ filename, bytes });
    pattern.lastIndex += length;
  }
  return files;
};
