// Writes lib/client/operations.ts: every call of the API with what it takes and what it answers, as TypeScript, from the
// same schemas that validate requests and make /openapi.json. Before tsc, which reads it; git does not keep it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { operationsText } from './client-text.mjs';
import { load } from './compile.mjs';

const FILE = 'lib/client/operations.ts';

// As the server puts it together: the document describes itself too.
const ENTRY = `
import { openApi } from './lib/http/openapi.ts';
import { sections } from './routes/index.ts';
const itself = { method: 'GET', path: '/openapi.json', summary: 'The OpenAPI document', response: { type: 'object' } };
export const document = openApi([...sections, { title: '', description: '', routes: [itself] }], [], '');
`;

const { document } = await load(ENTRY);
const text = operationsText(document);
// Untouched where it is as it was, so that tsc has nothing to do again.
if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) writeFileSync(FILE, text);
