import { createHash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { fileCounts } from '../../store/archive/archive-files.ts';

/** An entry of a zip file. What is given besides name and data is written as it is, however wrong. */
export interface ZipPart {
  name: string | Buffer;
  data?: string | Buffer;
  stored?: boolean;
  /** Where its bytes begin, instead of `name`. */
  localName?: string;
  mode?: number;
  method?: number;
  flags?: number;
  /** What is told of its size, in both places. */
  size?: number;
  compressed?: number;
  /** Tells the place of the entry with this number instead of its own. */
  placeOf?: number;
  /** DOS time and date. */
  time?: number;
  date?: number;
}

const UTF8 = 0x800;

/** A zip file, byte for byte by the book but for what a part says otherwise. */
export const zipOf = (parts: readonly ZipPart[]): Buffer => {
  const places: number[] = [];
  const locals: Buffer[] = [];
  let at = 0;
  for (const part of parts) {
    const local = Buffer.concat([localHeader(part), contentOf(part)]);
    places.push(at);
    locals.push(local);
    at += local.length;
  }
  const centrals = parts.map((part, index) =>
    centralHeader(part, places[part.placeOf ?? index] ?? 0),
  );
  const directory = Buffer.concat(centrals);
  return Buffer.concat([...locals, directory, ending(parts.length, directory.length, at)]);
};

const dataOf = ({ data = '' }: ZipPart): Buffer => Buffer.from(data);

const contentOf = (part: ZipPart): Buffer =>
  part.stored === true ? dataOf(part) : deflateRawSync(dataOf(part));

const shared = (part: ZipPart): Buffer => {
  const { flags = 0, method = part.stored === true ? 0 : 8, time = 0, date = 0x5c21 } = part;
  const header = Buffer.alloc(22);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(flags | UTF8, 2);
  header.writeUInt16LE(method, 4);
  header.writeUInt16LE(time, 6);
  header.writeUInt16LE(date, 8);
  header.writeUInt32LE(crc32(dataOf(part)), 10);
  header.writeUInt32LE(part.compressed ?? contentOf(part).length, 14);
  header.writeUInt32LE(part.size ?? dataOf(part).length, 18);
  return header;
};

const lengths = (...all: number[]): Buffer => {
  const buffer = Buffer.alloc(all.length * 2);
  all.forEach((each, index) => {
    buffer.writeUInt16LE(each, index * 2);
  });
  return buffer;
};

const localHeader = (part: ZipPart): Buffer => {
  const name = Buffer.from(part.localName ?? part.name);
  return Buffer.concat([Buffer.from('PK\x03\x04'), shared(part), lengths(name.length, 0), name]);
};

const centralHeader = (part: ZipPart, place: number): Buffer => {
  const name = Buffer.from(part.name);
  const rest = Buffer.alloc(8);
  rest.writeUInt32LE(((part.mode ?? 0o100644) << 16) >>> 0, 0);
  rest.writeUInt32LE(place, 4);
  return Buffer.concat([
    Buffer.from('PK\x01\x02'),
    // Made by a Unix: its modes count.
    lengths((3 << 8) | 20),
    shared(part),
    lengths(name.length, 0, 0, 0, 0),
    rest,
    name,
  ]);
};

const ending = (count: number, size: number, place: number): Buffer => {
  const rest = Buffer.alloc(8);
  rest.writeUInt32LE(size, 0);
  rest.writeUInt32LE(place, 4);
  return Buffer.concat([Buffer.from('PK\x05\x06'), lengths(0, 0, count, count), rest, lengths(0)]);
};

export interface TestManifest {
  format: string;
  generated_at: string;
  counts: { cases: number; sessions: number; files: number };
  files: { path: string; size: number; sha256: string }[];
  skipped: { path: string; reason: string }[];
}

/** The manifest that these files should have. */
export const manifestOf = (files: Record<string, string>): TestManifest => ({
  format: 'dossier-export/1',
  generated_at: '2026-11-21T08:00:00.000Z',
  counts: fileCounts(Object.keys(files)),
  files: Object.entries(files).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  })),
  skipped: [],
});

/** An export of these files; `more` are entries that its manifest does not speak of. */
export const exportOf = (
  files: Record<string, string>,
  manifest: object = manifestOf(files),
  more: readonly ZipPart[] = [],
): Buffer => {
  const parts = Object.entries(files).map(([name, data]) => ({ name, data }));
  const last = { name: 'manifest.json', data: JSON.stringify(manifest) };
  return zipOf([...parts, ...more, last]);
};
