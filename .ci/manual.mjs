// The page of the manual, from the commands that there are.
import { readFileSync, writeFileSync } from 'node:fs';
import { COMMANDS } from '../dist/lib/cli/commands.js';
import { manual } from '../dist/lib/cli/manual.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/dossier.1', manual(COMMANDS, version));
