/** What processes hand over in files: in few bytes, as strace writes down each of them four times as long. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Packed } from './images.ts';
import type { Row } from './rows.ts';
import type { Image } from './world.ts';

/** What the program that strace watches is given. */
export interface HandedOver {
  rows: Row[];
  images: Partial<Record<Image, Packed>>;
}

export const writePacked = (file: string, value: object): void =>
  writeFileSync(file, gzipSync(JSON.stringify(value), { level: 1 }));

export const readPacked = <T>(file: string): T =>
  JSON.parse(gunzipSync(readFileSync(file)).toString()) as T;
