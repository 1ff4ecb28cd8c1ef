/** The client as it is in the package, used by a program that has nothing but it. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { block } from '../../examples/guides.ts';
import { PROJECT } from '../../examples/run.ts';
import { startDaemon } from '../../helpers/daemon.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const TSC = join(PROJECT, 'node_modules/typescript/bin/tsc');

const STRICT = {
  ...{ target: 'es2022', module: 'nodenext', moduleDetection: 'force', types: [] },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true },
  ...{ skipLibCheck: false, outDir: 'out', rootDir: '.' },
};

/** A folder with the package and without what it depends on. */
const unpack = (t: TestContext): string => {
  const place = temporaryDirectory(t);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
  const answer = execFileSync('npm', pack, { cwd: PROJECT, encoding: 'utf8', stdio: 'pipe' });
  const [{ filename }] = JSON.parse(answer);
  execFileSync('tar', ['-xzf', join(place, filename), '-C', place]);
  mkdirSync(join(place, 'node_modules'));
  renameSync(join(place, 'package'), join(place, 'node_modules/dossierd'));
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
  return place;
};

/** Compiles these files strictly; answers what the compiler says, which is nothing where all is right. */
const compile = (place: string, lib: string[], files: Record<string, string>): string => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  const settings = { compilerOptions: { ...STRICT, lib }, files: Object.keys(files) };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(settings));
  return spawnSync(process.execPath, [TSC], { cwd: place, encoding: 'utf8' }).stdout;
};

// Neither a browser nor Node is known to it: types of its own, and calls that the compiler has to refuse.
const PLAIN = `
import { connect, Problem, type Case, type Dossier, type SessionEvent, type WorkspaceEvent } from 'dossierd/client';

export const run = async (url: string): Promise<Case[]> => {
  const dossier: Dossier = connect({ url });
  const made = await dossier.call('POST /cases', { body: { title: 'Typed', type: 'chore' } });
  const answer = await dossier.request('GET /cases/{id}', { id: made.id });
  if (answer.status === 304) { const none: undefined = answer.data; void none; }
  else { const item: Case = answer.data; void item; }
  for await (const { event, data } of dossier.stream('GET /events', { query: { types: ['case_created'] } })) {
    if (event === 'case_created' && data.payload.title === 'Typed') break;
    // @ts-expect-error what other events tell has no title
    if (event === 'session_started') data.payload.title;
  }
  const listed = await dossier.call('GET /cases', { query: { state: undefined, limit: 1 } });
  const [first] = listed;
  const titles: string[] = listed.map(({ title }) => title);
  const page = await dossier.request('GET /cases', { query: { limit: 1 } });
  if (page.status === 200) titles.push(...page.data.map(({ title }) => title));
  const parts = await dossier.call('GET /cases', { query: { fields: 'state' } });
  // @ts-expect-error nobody asked for the titles
  titles.push(...parts.map(({ title }) => title));
  const proof = new Uint8Array([104, 105]);
  const query = { type: 'log', name: 'hi.txt' };
  const { id: pid } = await dossier.call('POST /cases/{id}/proof/files', { id: made.id, query, body: proof });
  const file = await dossier.call('GET /cases/{id}/proof/{pid}/file', { id: made.id, pid });
  if ((await file.arrayBuffer()).byteLength !== 2) throw new Error('another file');
  try {
    await dossier.call('GET /cases/{id}', { id: pid });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
  }
  return first === undefined ? [] : [await dossier.call('GET /cases/{id}', { id: made.id })];
};

export const planOf = (event: SessionEvent): string | undefined =>
  event.event === 'plan_ready' ? event.data.plan : undefined;
export const bodyOf = (event: WorkspaceEvent): string => event.data.event_type;

export const refused = (dossier: Dossier): unknown[] => [
  // @ts-expect-error no such call
  dossier.call('GET /nothing'),
  // @ts-expect-error the Work item is not named
  dossier.call('GET /cases/{id}'),
  // @ts-expect-error by another name
  dossier.call('GET /cases/{id}', { case_id: 'x' }),
  // @ts-expect-error the title is missing
  dossier.call('POST /cases', { body: { type: 'chore' } }),
  // @ts-expect-error a field that nobody knows
  dossier.call('POST /cases', { body: { title: 'x', type: 'chore', colour: 'red' } }),
  // @ts-expect-error no such state
  dossier.call('PUT /cases/{id}/state', { id: 'x', body: { state: 'DONE' } }),
  // @ts-expect-error there is no version to write to
  dossier.call('GET /cases', { ifMatch: 'x' }),
  // @ts-expect-error whoever wants 304 has to look at the status
  dossier.call('GET /cases', { ifNoneMatch: 'x' }),
  // @ts-expect-error a plan is Markdown
  dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { id: 'x', sid: 'y', body: {} }),
  // @ts-expect-error a file is no text
  dossier.call('POST /cases/{id}/proof/files', { id: 'x', query: { type: 'log' }, body: 'text' }),
  // @ts-expect-error no stream
  dossier.stream('GET /cases'),
  // @ts-expect-error no such event
  dossier.stream('GET /events', { query: { types: ['weather'] } }),
];
`;

const WITH_DOM = `
import { connect, type Dossier } from 'dossierd/client';

const abort = new AbortController();
export const dossier: Dossier = connect({ url: location.origin, fetch: (url, init) => fetch(url, init) });
export const save = async (id: string, pid: string): Promise<string> => {
  const file = await dossier.call('GET /cases/{id}/proof/{pid}/file', { id, pid, signal: abort.signal });
  return URL.createObjectURL(await file.blob());
};
export const attach = (id: string, body: File | ReadableStream<Uint8Array>) =>
  dossier.call('POST /cases/{id}/proof/files', { id, query: { type: 'log', name: 'a.txt' }, body });
// @ts-expect-error no signal
dossier.call('GET /version', { signal: 1 });
`;

interface Document {
  paths: Record<string, object>;
}

const operations = (document: Document): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

describe('dossierd/client', () => {
  it('is one file of at most 3 KB as it is sent, and declarations that import nothing', () => {
    const read = (name: string): string => readFileSync(join(PROJECT, 'dist', name), 'utf8');
    const size = brotliCompressSync(read('client.js')).length;
    assert.ok(size <= 3072, `${size} bytes`);
    for (const name of ['client.js', 'client.d.ts'])
      assert.doesNotMatch(
        read(name).replaceAll(/\/\*\*.*?\*\//gs, ''),
        /^import\b|\bimport\(|\brequire\(|\bfrom '|'node:|"node:|typebox|\/\/\/ ?</m,
      );
  });

  it('is typed strictly where no platform is, refuses wrong calls, and runs', async (t) => {
    const place = unpack(t);
    const repository = await makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
    const { url } = await startDaemon(t, args);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
    // As many as there are: one more or one less is an error of the compiler.
    const all = Object.fromEntries(operations(document).map((name) => [name, true]));
    const calls = `import type { Operation } from 'dossierd/client';
      export const all: Record<Operation, true> = ${JSON.stringify(all)};`;
    const files = { 'consumer.ts': PLAIN, 'calls.ts': calls };
    assert.equal(compile(place, ['es2022'], files), '');
    const { run } = await import(pathToFileURL(join(place, 'out/consumer.js')).href);
    const [item] = await run(url);
    assert.equal(item.title, 'Typed');
  });

  it('has the types of the browser where the program has them, and the guide is right', async (t) => {
    const place = unpack(t);
    const guide = block('ts', "import { connect, Problem } from 'dossierd/client'");
    const files = { 'page.ts': WITH_DOM, 'guide.ts': guide };
    assert.equal(compile(place, ['es2022', 'dom', 'dom.asynciterable'], files), '');
    const repository = await makeRepository(t);
    const args = ['--workspace', temporaryDirectory(t), '--repo', repository.root];
    const { url } = await startDaemon(t, args);
    const path = join(place, 'out/guide.js');
    const script = readFileSync(path, 'utf8').replace('connect()', `connect({ url: '${url}' })`);
    writeFileSync(path, script);
    const said = execFileSync(process.execPath, [path], { encoding: 'utf8', timeout: 60_000 });
    assert.match(said, /^# Plan: Leave a note[\s\S]*404 not_found There is no Work item/);
  });
});
