/**
 * `npm run bench`: what the daemon costs, as ratios to limits that are taken in the same run. Nothing fails here; a
 * machine that does other work makes single figures wrong, the ratios much less so.
 */
import { benchBurst } from './burst.ts';
import { benchConsole } from './console.ts';
import { benchEdits } from './edits.ts';
import { benchExport } from './export.ts';
import { benchLsp } from './lsp.ts';
import { benchMemory } from './memory.ts';
import { benchReaders } from './readers.ts';
import { print, type Row } from './report.ts';
import { benchReads } from './requests.ts';
import { benchManyStarts, benchStarts } from './starts.ts';
import { benchWorktrees } from './worktrees.ts';
import { benchWrites } from './writes.ts';

const PARTS: Record<string, () => Promise<Row[]>> = {
  reads: benchReads,
  writes: benchWrites,
  starts: benchStarts,
  edits: benchEdits,
  burst: benchBurst,
  memory: benchMemory,
  console: benchConsole,
  export: benchExport,
  worktrees: benchWorktrees,
  readers: benchReaders,
  lsp: benchLsp,
};

// A minute and more each: only when named.
const LONG: Record<string, () => Promise<Row[]>> = { 'many-starts': benchManyStarts };

const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries(wanted.length > 0 ? { ...PARTS, ...LONG } : PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  // At once: who ends it early, on a machine that is busy, has what there is.
  print(await part());
}
