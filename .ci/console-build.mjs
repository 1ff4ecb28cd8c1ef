// What the browser runs: one bundle whose pages are loaded when they are opened, under names that change with the content.
import { rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { build } from 'esbuild';

const CONSOLE = 'routes/console';
const ENTRIES = {
  script: `${CONSOLE}/client/client.tsx`,
  worker: `${CONSOLE}/client/worker.ts`,
  style: `${CONSOLE}/style/console.css`,
};

rmSync('dist/console', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: Object.values(ENTRIES),
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  format: 'esm',
  minify: true,
  splitting: true,
  metafile: true,
  logLevel: 'warning',
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  outdir: 'dist/console',
  tsconfig: `${CONSOLE}/client/tsconfig.json`,
});

// Pages name what they load by it.
const made = Object.entries(metafile.outputs);
const names = Object.entries(ENTRIES).map(([name, entry]) => [
  name,
  basename(made.find(([, { entryPoint }]) => entryPoint === entry)[0]),
]);
writeFileSync('dist/console/manifest.json', JSON.stringify(Object.fromEntries(names)));
