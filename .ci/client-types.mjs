// Writes lib/client/operations.ts: every call of the API with what it takes and what it answers, as TypeScript, from the
// same schemas that validate requests and make /openapi.json. Before tsc, which reads it; git does not keep it.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { operationsText } from './client-text.mjs';

const FILE = 'lib/client/operations.ts';

// As the server puts it together: the document describes itself too.
const ENTRY = `
import { openApi } from './lib/http/openapi.ts';
import { sections } from './routes/index.ts';
const itself = { method: 'GET', path: '/openapi.json', summary: 'The OpenAPI document', response: { type: 'object' } };
export const document = openApi([...sections, { title: '', description: '', routes: [itself] }], [], '');
`;

/** The OpenAPI document of the routes as they stand in the sources. */
const documentOf = async () => {
  // Below the project, where its packages are found, and by another name in each process.
  const outfile = resolve(`dist/routes-${process.pid}.mjs`);
  await build({
    stdin: { contents: ENTRY, resolveDir: '.', loader: 'ts' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    outfile,
  });
  try {
    return (await import(pathToFileURL(outfile).href)).document;
  } finally {
    rmSync(outfile);
  }
};

const text = operationsText(await documentOf());
// Untouched where it is as it was, so that tsc has nothing to do again.
if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) writeFileSync(FILE, text);
