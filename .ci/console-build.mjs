// What the browser runs: one bundle whose pages are loaded when they are opened, under names that change with the content.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';

const CONSOLE = 'routes/console';
const ENTRIES = {
  script: `${CONSOLE}/client/client.tsx`,
  worker: `${CONSOLE}/client/worker.ts`,
  style: `${CONSOLE}/style/console.css`,
};

// What is drawn on every page. Every other sheet holds on the pages alone that name it, in pages/index.ts.
const EVERYWHERE = [
  'console',
  'base',
  'bar',
  'fields',
  'messages',
  'lists',
  'markdown',
  'keys',
  'narrow',
];

// It weighs as much as it would by itself: what comes later in the whole sheet still wins.
const scoped = (name, text) => `:where([data-style~="${name}"]) {\n${text}\n}`;

const scopeStyles = {
  name: 'scope-styles',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/style\/[\w-]+\.css$/ }, ({ path }) => {
      const name = basename(path, '.css');
      const text = readFileSync(path, 'utf8');
      return { loader: 'css', contents: EVERYWHERE.includes(name) ? text : scoped(name, text) };
    }),
};

rmSync('dist/console', { recursive: true, force: true });
export const { metafile } = await build({
  entryPoints: Object.values(ENTRIES),
  bundle: true,
  platform: 'browser',
  // Those that know no nested rules get plain ones.
  target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  format: 'esm',
  minify: true,
  splitting: true,
  metafile: true,
  logLevel: 'warning',
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  outdir: 'dist/console',
  tsconfig: `${CONSOLE}/client/tsconfig.json`,
  plugins: [scopeStyles],
});

// Pages name what they load by it.
const made = Object.entries(metafile.outputs);
const names = Object.entries(ENTRIES).map(([name, entry]) => [
  name,
  basename(made.find(([, { entryPoint }]) => entryPoint === entry)[0]),
]);
const parts = made.flatMap(([path, { entryPoint = '' }]) => {
  const [, page] = /\/pages\/([\w-]+)\.tsx$/.exec(entryPoint) ?? [];
  return page === undefined ? [] : [[page, loadedWith(path)]];
});
const manifest = { ...Object.fromEntries(names), parts: Object.fromEntries(parts) };
writeFileSync('dist/console/manifest.json', JSON.stringify(manifest));

// A file and what it cannot run without.
function loadedWith(first) {
  const found = new Set([first]);
  for (const path of found)
    for (const { kind, path: next } of metafile.outputs[path].imports)
      if (kind === 'import-statement') found.add(next);
  return [...found].map((path) => basename(path));
}
