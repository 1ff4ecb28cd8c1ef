// Turns the modules that esbuild made of the daemon into the chunks that lib/chunks.ts loads.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, transform } from 'esbuild';

const START = 'lib/cli/serve.ts';

/**
 * Overwrites the modules of a build with chunks. Each of `entries` stays a module, which loads its chunk. Makes also
 * dist/dossier.js and the loader.
 */
export const writeChunks = async ({ outputs }, entries, common) => {
  const [few, all] = await Promise.all(
    ['var a;export{a}', 'import a from"a";export{a}'].map(helpersOf),
  );
  for (const path of Object.keys(outputs)) {
    const code = await asFunction(readFileSync(path, 'utf8'));
    const helpers = [all, few].find((each) => code.startsWith(each)) ?? '';
    const place = entries.includes(path) ? makeEntry(path) : path;
    writeFileSync(place, code.slice(helpers.length));
  }
  const start = Object.keys(outputs).find((path) => outputs[path].entryPoint === START);
  await build({
    ...common,
    entryPoints: { dossier: 'lib/dossier.ts', 'chunks/load': 'lib/chunks.ts' },
    outdir: 'dist',
    plugins: [mainApart],
    define: { SERVE: JSON.stringify(`./${basename(start)}`), HELPERS: JSON.stringify(all) },
  });
};

const asFunction = async (text) => {
  const { code } = await transform(text, {
    ...{ format: 'cjs', target: 'node20', legalComments: 'none' },
    ...{ minifyWhitespace: true, minifySyntax: true, lineLimit: 1000 },
    define: { 'import.meta.url': '__url', 'import.meta.dirname': '__dirname' },
    supported: { 'dynamic-import': false },
  });
  // ASCII alone: esbuild leaves what is in regular expressions.
  return code
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\bimport_chunk_(?=\w{8}\b)/g, '$$');
};

// What esbuild puts before each chunk, and the loader has once.
const helpersOf = async (text) => (await asFunction(text)).split('var stdin_exports=')[0];

const makeEntry = (path) => {
  const name = `${basename(path, '.js')}-entry.js`;
  writeFileSync(path, `import { load } from './load.js';\nload('./${name}');\n`);
  return join(dirname(path), name);
};

const mainApart = {
  name: 'main-apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/main\.ts$/ }, () => ({ path: './chunks/main.js', external: true })),
};
