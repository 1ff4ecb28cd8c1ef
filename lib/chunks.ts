/**
 * Loads the chunks of the shipped bundle. Chunks of `dossier serve` use V8's code cache of an earlier start, kept in
 * `dist/compiled/`: compilation is a third of a start. A cache entry belongs to one hash of a chunk and one Node version;
 * without a usable entry the chunk is compiled as usual. The cache is as trusted as the chunks: the same user writes both.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { hasCode, orElse } from '../store/base/attempt.ts';

/** Defined by the build: the name of the chunk of `dossier serve`, and the code that every chunk begins with. */
declare const SERVE: string;
declare const HELPERS: string;

interface Module {
  exports: unknown;
}
type Need = (name: string) => unknown;
type Chunk = (need: Need, module: Module, url: string, dirname: string) => void;

const HERE = import.meta.dirname;
const builtin = createRequire(import.meta.url);
const loaded = new Map<string, Module>();

/** Returns the exports of a chunk; `name` begins with `./`. */
export const load = (name: string): unknown => {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  if (name === SERVE) beginStart();
  const module: Module = { exports: {} };
  loaded.set(name, module);
  const path = join(HERE, name);
  const run: Chunk = scriptOf(path).runInThisContext();
  run(need, module, pathToFileURL(path).href, HERE);
  return module.exports;
};

const need: Need = (name) => (name.startsWith('./') ? load(name) : builtin(name));

interface Start {
  /** V8's cached code of an earlier start, by the hash of the chunk. */
  kept: ReadonlyMap<string, Buffer>;
  /** The scripts that this start loaded, by the hash of the chunk. */
  scripts: Map<string, Script>;
}

let start: Start | undefined;

const scriptOf = (path: string): Script => {
  const bytes = read(path);
  // The build writes ASCII, so each byte is a character.
  const text = `(function(require,module,__url,__dirname){"use strict";${HELPERS}${bytes.toString('latin1')}\n})`;
  if (start === undefined) return new Script(text, { filename: path });
  const key = hash('sha256', bytes);
  const cachedData = start.kept.get(key);
  const script = new Script(text, { filename: path, ...(cachedData && { cachedData }) });
  start.scripts.set(key, script);
  return script;
};

// An upgrade replaces the chunks of a daemon that runs.
const read = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    const message = `${path} does not exist: Dossier was upgraded or removed since this process started`;
    throw Object.assign(new Error(message, { cause }), { code: 'PROGRAM_REPLACED' });
  }
};

const digestOf = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

const DIGEST_BYTES = 32;
const FOLDER = join(dirname(HERE), 'compiled');
const KEPT = join(FOLDER, `${process.version}-${process.arch}`);
// By then V8 has compiled every function that a start calls.
const START_MS = 2000;

const beginStart = (): void => {
  // Without a readable cache the chunks are compiled.
  const kept = orElse(readKept, new Map<string, Buffer>());
  const scripts = new Map<string, Script>();
  start = { kept, scripts };
  const end = (): void => {
    clearTimeout(timer);
    process.off('exit', end);
    // The names of chunks are hashes, and this chunk names all others: its hash stands for the whole set.
    const [serve] = scripts.keys();
    // If this user may not write there, every start compiles.
    if (serve !== undefined && !kept.has(serve)) orElse(() => keep(scripts), undefined);
    start = undefined;
  };
  const timer = setTimeout(end, START_MS).unref();
  process.once('exit', end);
};

// Format: a hash of the rest; the length of the table of contents; the table as JSON; the entries.
const readKept = (): Map<string, Buffer> => {
  const kept = new Map<string, Buffer>();
  const file = readFileSync(KEPT);
  const rest = file.subarray(DIGEST_BYTES);
  if (!digestOf(rest).equals(file.subarray(0, DIGEST_BYTES))) return kept;
  let at = 4 + rest.readUInt32LE();
  for (const [key, size] of JSON.parse(rest.toString('latin1', 4, at)) as [string, number][]) {
    kept.set(key, rest.subarray(at, at + size));
    at += size;
  }
  return kept;
};

// Only the owner of the program writes: the owner could not remove files of another user.
const keep = (scripts: ReadonlyMap<string, Script>): void => {
  if (statSync(HERE).uid !== (process.getuid?.() ?? 0)) return;
  const contents = [...scripts].map(([key, script]) => [key, script.createCachedData()] as const);
  const table = Buffer.from(JSON.stringify(contents.map(([key, data]) => [key, data.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(table.length);
  const rest = Buffer.concat([length, table, ...contents.map(([, data]) => data)]);
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  const temporary = `${KEPT}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([digestOf(rest), rest]), { mode: 0o644, flag: 'wx' });
    renameSync(temporary, KEPT);
  } finally {
    orElse(() => unlinkSync(temporary), undefined);
  }
};
