// The page of the manual, from the commands that there are.
import { readFileSync, writeFileSync } from 'node:fs';
import { load } from './compile.mjs';

const { COMMANDS, manual } = await load(`
export { COMMANDS } from './lib/cli/commands.ts';
export { manual } from './lib/cli/manual.ts';
`);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/dossier.1', manual(COMMANDS, version));
