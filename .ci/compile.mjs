// Compiles programs of this tree straight from TypeScript, each with all that it imports in one file. Types are checked by
// `npm run types`. As a program: node .ci/compile.mjs FILE.ts...
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');

/** The files below a folder whose names match, sorted. */
export const filesBelow = (folder, pattern) =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path, pattern);
      return pattern.test(entry.name) ? [path] : [];
    })
    .sort();

/** Where the compiled form of a source is: `dist/store/watch/watch.js`. */
export const compiledPath = (source) =>
  join(ROOT, 'dist', relative(ROOT, resolve(ROOT, source)).replace(/\.(m?)tsx?$/, '.$1js'));

// What a file finds by its own place it still finds when it is part of another.
const ownPlaces = {
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.m?tsx?$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const place = compiledPath(path);
      const contents = text
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(place).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(place)));
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    }),
};

// Tools of the tests that find files beside their own, or are large.
const EXTERNAL = [
  ...['@octokit/webhooks-examples', '@qwen-code/qwen-code', '@seriousme/openapi-schema-validator'],
  ...['axe-core', 'dossierd', 'emulate', 'esbuild', 'fast-check', 'playwright-core', 'typescript'],
];

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  absWorkingDir: ROOT,
  sourcemap: true,
  sourcesContent: false,
  external: EXTERNAL,
  // Some packages are CommonJS and require what Node brings.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  logLevel: 'error',
};

/** Compiles sources to their places in dist/, or `entries` (a path without its ending, and a source) below `outdir`. */
export const compile = (entryPoints, { outdir = 'dist', plugins = [], ...more } = {}) =>
  build({
    ...OPTIONS,
    ...more,
    entryPoints,
    outbase: '.',
    outdir,
    plugins: [...plugins, ownPlaces],
  });

/** Ends esbuild's own process, which is large, until it is needed again. */
export { stop as letGo } from 'esbuild';

/** What a module exports whose source is this text, which imports as if it lay in the root of the project. */
export const load = async (contents) => {
  // Below the project, where its packages are found.
  const outfile = join(ROOT, `dist/loaded-${randomUUID()}.mjs`);
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' };
  await build({
    ...OPTIONS,
    stdin,
    packages: 'external',
    sourcemap: false,
    outfile,
    plugins: [ownPlaces],
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
};

const BY_PLACE = /new URL\(\s*['"](\.[^'"]+?)\.(m?)js['"]/g;
// Started by places that are put together.
const OTHERS = [
  ...['store/workspace/daemon-lock', 'store/layout', 'test/helpers/inside-as'],
  ...['lib/tools/process/spawn', 'lib/tools/process/runs'],
  ...['store/journal/journal', 'store/journal/mark'],
  ...['test/bench/lsp-bridge', 'test/bench/lsp-echo'],
];

/** The sources of the programs and threads that others start by their place in dist/. */
export const startedPrograms = () => {
  const sources = ['examples', 'lib', 'store', 'test'].flatMap((folder) =>
    filesBelow(folder, /\.m?ts$/),
  );
  const named = sources.flatMap((source) =>
    [...readFileSync(source, 'utf8').matchAll(BY_PLACE)].map(([, path, m]) =>
      join(dirname(source), `${path}.${m}ts`),
    ),
  );
  const others = [...OTHERS.map((path) => `${path}.ts`), ...filesBelow('examples', /\.ts$/)];
  return [...new Set([...named, ...others])].filter(existsSync);
};

/** Compiles them: modules (.mts) keep their ending. What an earlier compilation left is gone: nothing is found by chance. */
export const compilePrograms = async () => {
  for (const folder of ['examples', 'lib', 'routes', 'store', 'test'])
    rmSync(join(ROOT, 'dist', folder), { recursive: true, force: true });
  const all = startedPrograms();
  await Promise.all([
    compile(all.filter((path) => path.endsWith('.ts'))),
    compile(
      all.filter((path) => path.endsWith('.mts')),
      { outExtension: { '.js': '.mjs' } },
    ),
  ]);
};

if (process.argv[1] === import.meta.filename) {
  await compilePrograms();
  await compile(process.argv.slice(2));
}
