/** The index of a repository that was copied: without a run of git, which costs more than the copy. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER = 12;
const STAT = 40;
const OBJECT = 20;
const CHECKSUM = 20;

/** As `git update-index --refresh` of files that are as they were: it knows them by their inodes and times. */
export const refreshIndex = (root: string): void => {
  const path = join(root, '.git/index');
  const index = readFileSync(path);
  const version = index.readUInt32BE(4);
  if (version !== 2) throw new Error(`An index of version ${version}`);
  let at = HEADER;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) at = refreshEntry(root, index, at);
  const end = index.length - CHECKSUM;
  createHash('sha1').update(index.subarray(0, end)).digest().copy(index, end);
  writeFileSync(path, index);
};

/** Answers where the next begins. */
const refreshEntry = (root: string, index: Buffer, at: number): number => {
  const nameAt = at + STAT + OBJECT + 2;
  const nameEnd = index.indexOf(0, nameAt);
  const stats = lstatSync(join(root, index.toString('utf8', nameAt, nameEnd)), { bigint: true });
  const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = stats;
  const values = [
    ...[ctimeNs / SECOND, ctimeNs % SECOND, mtimeNs / SECOND, mtimeNs % SECOND],
    ...[dev, ino, undefined, uid, gid, size],
  ];
  // The mode stays as it is.
  for (const [n, value] of values.entries())
    if (value !== undefined) index.writeUInt32BE(Number(BigInt.asUintN(32, value)), at + 4 * n);
  // Up to a multiple of eight, and at least one.
  return at + 8 * Math.floor((nameEnd - at + 8) / 8);
};

const SECOND = 1_000_000_000n;
