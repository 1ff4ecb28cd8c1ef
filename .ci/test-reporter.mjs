// A reporter of node:test: prints as `spec` does, with places in the sources instead of those in dist/, and writes to the file
// that TEST_COUNTS names how many tests passed, and how long those of each source took, in milliseconds. Node can map places
// itself (--enable-source-maps), but reads the map of everything as soon as any error is made: seconds, and 100 MB.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const maps = new Map();
const mapOf = (path) => {
  if (!maps.has(path)) {
    const text = existsSync(`${path}.map`) ? readFileSync(`${path}.map`, 'utf8') : undefined;
    maps.set(path, text === undefined ? undefined : new SourceMap(JSON.parse(text)));
  }
  return maps.get(path);
};

/** A place in a source, as `{ file, line }`; what was not compiled stays as it is. */
const sourceOf = (place, line, column) => {
  const path = place.startsWith('file:') ? fileURLToPath(place) : place;
  const { originalSource, originalLine } = mapOf(path)?.findEntry(line - 1, column - 1) ?? {};
  if (originalSource === undefined) return { file: relative(process.cwd(), path), line };
  const source = resolve(dirname(path), originalSource);
  return { file: relative(process.cwd(), source), line: originalLine + 1 };
};

const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.m?js):(\d+):(\d+)/g;
const mapped = (text) =>
  text.replaceAll(PLACE, (_, path, line, column) => {
    const source = sourceOf(path, Number(line), Number(column));
    return `${source.file}:${source.line}`;
  });

const mapError = (error) => {
  for (let each = error; typeof each === 'object' && each !== null; each = each.cause)
    if (typeof each.stack === 'string') each.stack = mapped(each.stack);
};

const LONGEST_REASON = 12;
/** The first lines of what went wrong. */
const reasonOf = ({ cause, message }) =>
  String(cause?.stack ?? cause ?? message)
    .split('\n')
    .slice(0, LONGEST_REASON);

const add = (counted, type, { file, line, name, nesting, skip, details }) => {
  if (nesting === 0) counted.times[file] = (counted.times[file] ?? 0) + details.duration_ms;
  if (details.type === 'suite') return;
  if (type === 'test:fail')
    counted.failures.push({ file, line, name, reason: reasonOf(details.error) });
  else if (skip === undefined) counted.passed += 1;
  else counted.skipped += 1;
};

// The lines of what passed are shown nowhere, and reading a map takes half a second.
const COMPILED = /\/dist\/tests\/(test\/.*\.test)\.js$/;
const placeOf = (type, { file, line, column }) => {
  const source = COMPILED.exec(file)?.[1];
  return source === undefined || type === 'test:fail'
    ? sourceOf(file, line, column)
    : { file: `${source}.ts` };
};

const look = async function* (source, counted) {
  for await (const { type, data } of source) {
    // Counts are told of all groups together.
    if (type === 'test:diagnostic') continue;
    const { file, details } = data;
    const told = file === undefined ? data : { ...data, ...placeOf(type, data) };
    if (type === 'test:fail') mapError(details.error);
    if (type === 'test:pass' || type === 'test:fail') add(counted, type, told);
    yield { type, data: told };
  }
};

// biome-ignore lint/style/noDefaultExport: Node takes a reporter by it
export default async function* report(source) {
  const counted = { times: {}, passed: 0, skipped: 0, failures: [] };
  yield* Readable.from(look(source, counted)).pipe(new spec());
  const { env } = process;
  writeFileSync(env.TEST_COUNTS, JSON.stringify(counted));
}
