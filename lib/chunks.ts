/**
 * Loads the chunks of the shipped bundle. Those of `dossier serve` are loaded with the code that V8 compiled for them at an
 * earlier start, which is kept in `dist/compiled/`: compiling it anew is a third of a start. What is kept belongs to one text
 * and one version of Node, by a hash of each text; anything else, or what cannot be read, is compiled as usual. Who can write
 * there can write the chunks beside it.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { orElse } from '../store/base/attempt.ts';

/** Put in by the build: the chunk of `dossier serve`, and what the text of every chunk begins with. */
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

/** What a chunk exports; `name` begins with `./`. */
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
  /** By the hash of its text: what V8 compiled of a chunk at an earlier start. */
  kept: ReadonlyMap<string, Buffer>;
  /** The chunks that this start loaded, to be kept. */
  scripts: Map<string, Script>;
}

let start: Start | undefined;

const scriptOf = (path: string): Script => {
  const bytes = readFileSync(path);
  // The build writes ASCII: each byte is a character.
  const text = `(function(require,module,__url,__dirname){"use strict";${HELPERS}${bytes.toString('latin1')}\n})`;
  if (start === undefined) return new Script(text, { filename: path });
  const key = hash('sha256', bytes);
  const cachedData = start.kept.get(key);
  const script = new Script(text, { filename: path, ...(cachedData && { cachedData }) });
  start.scripts.set(key, script);
  return script;
};

const digestOf = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

const DIGEST_BYTES = 32;
const FOLDER = join(dirname(HERE), 'compiled');
const KEPT = join(FOLDER, `${process.version}-${process.arch}`);
// What a start calls has been compiled by then.
const START_MS = 2000;

const beginStart = (): void => {
  // None was kept yet, or it cannot be read: the chunks are compiled.
  const kept = orElse(readKept, new Map<string, Buffer>());
  const scripts = new Map<string, Script>();
  start = { kept, scripts };
  const end = (): void => {
    clearTimeout(timer);
    process.off('exit', end);
    // Its text names all others, by their hashes.
    const [serve] = scripts.keys();
    // Where this user may not write there, each start compiles.
    if (serve !== undefined && !kept.has(serve)) orElse(() => keep(scripts), undefined);
    start = undefined;
  };
  const timer = setTimeout(end, START_MS).unref();
  process.once('exit', end);
};

// The hash of all that follows; the length of the table of contents, and that table; the contents one after the other.
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

// By the owner of the program alone: what another user leaves here the owner could not remove.
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
    rmSync(temporary, { force: true });
  }
};
