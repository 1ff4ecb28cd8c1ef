// The daemon as it ships: dist/dossier.js and, beside it, what is loaded only when it is needed.
import './client-build.mjs';
import './manual.mjs';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { writeChunks } from './chunks.mjs';
import { metafile as consoleMetafile } from './console-build.mjs';
import { writeNotices } from './notices.mjs';

const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

const commitOf = () => {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
};

const info = {
  name,
  version,
  // Not that of a repository which an unpacked archive happens to lie in.
  commit: existsSync('.git') ? commitOf() : null,
  built_at: new Date().toISOString(),
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  metafile: true,
  // Node keeps the text of what it runs.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  legalComments: 'none',
  logLevel: 'warning',
};

// What the browser alone runs, once it is opened, is an empty module to the daemon, which draws the same pages.
const browserOnly = {
  name: 'browser-only',
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /\/routes\/console\/(?:editor\/[\w-]+|parts\/diff\/lowlight)\.tsx?$/ },
      () => ({
        contents: '',
      }),
    ),
};

// Of packages that would come whole: as what is taken of them alone.
const IN_PART = {
  undici: '.ci/undici.cjs',
  'isomorphic-git': 'node_modules/isomorphic-git/index.js',
};
const inPart = {
  name: 'in-part',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^(?:undici|isomorphic-git)$/ }, ({ path }) => ({
      path: resolve(IN_PART[path]),
      sideEffects: false,
    })),
};

// What others wrote is read by nobody here: with short names inside. Ours stays as it is told of in an error's trace.
const shortNames = {
  name: 'short-names',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, async ({ path }) => {
      const options = { minifyIdentifiers: true, legalComments: 'none', logLevel: 'error' };
      return { contents: (await transform(readFileSync(path, 'utf8'), options)).code };
    }),
};

// The file of a thread, or of a process, has to lie beside the chunk that starts it.
const ENTRIES = {
  'chunks/main': 'lib/main.ts',
  'chunks/watch-worker': 'store/watch/watch-worker.ts',
  'chunks/doors-child': 'lib/sandbox/egress/doors-child.ts',
  'chunks/export-worker': 'store/archive/export-worker.ts',
  'chunks/sending-worker': 'lib/events/webhooks/sending-worker.ts',
};

for (const made of ['dist/chunks', 'dist/compiled']) rmSync(made, { recursive: true, force: true });
const daemon = await build({
  ...common,
  entryPoints: ENTRIES,
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  plugins: [browserOnly, inPart, shortNames],
  alias: {
    'js-yaml': './.ci/no-js-yaml.cjs',
    'readdir-glob': './.ci/no-glob-or-tar.cjs',
    'tar-stream': './.ci/no-glob-or-tar.cjs',
    'mime-db/db.json': './.ci/mime-db.json',
  },
  // A text and no object: that would be a file of its own, which the first one loads.
  define: { DOSSIER_BUILD: JSON.stringify(JSON.stringify(info)) },
});

// By itself: where it runs, nothing beside it may be seen, and so no package.json that tells what it is.
const relay = await build({
  ...common,
  entryPoints: { 'chunks/relay': 'lib/sandbox/egress/relay.mts' },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
});

await writeChunks(
  daemon.metafile,
  Object.keys(ENTRIES).map((name) => `dist/${name}.js`),
  common,
);

writeNotices([daemon.metafile, relay.metafile, consoleMetafile], { name, version, license });
