import { benchBurst } from './burst.ts';
import { benchConsole } from './console.ts';
import { benchEdits } from './edits.ts';
import { benchExport } from './export.ts';
import { benchFirstCalls } from './first-calls.ts';
import { benchFloods } from './floods.ts';
import { benchLists, benchRest } from './lists.ts';
import { benchLsp } from './lsp.ts';
import { benchMemory } from './memory.ts';
import { benchReaders } from './readers.ts';
import { benchReceivers } from './receivers.ts';
import type { Row } from './report.ts';
import { benchReads } from './requests.ts';
import { benchSessions } from './sessions.ts';
import { benchEmptyStart, benchReady } from './starts.ts';
import { benchVerbs } from './verbs.ts';
import { benchWorktrees } from './worktrees.ts';
import { benchCreate, benchCreateAmongMany } from './writes.ts';

export type Measure = () => Promise<Row[]>;

/** What `npm run bench` measures. */
export const PARTS: Readonly<Record<string, Measure>> = {
  // First: each connection that was closed is a row of the kernel's table for a minute.
  'first-calls': () => benchFirstCalls(200),
  reads: () => benchReads({ ones: 6000, lists: 600 }),
  writes: async () => [...(await benchCreate(800)), ...(await benchCreateAmongMany(800))],
  starts: async () => [
    ...(await benchEmptyStart()),
    ...(await benchReady(5000, { fresh: '<= 1.3 s' })),
    ...(await benchReady(10_000, { fresh: '<= 2.3 s', known: '<= 1.4 s' })),
  ],
  verbs: () => benchVerbs(7),
  edits: benchEdits,
  burst: benchBurst,
  memory: benchMemory,
  console: benchConsole,
  export: async () => [
    ...(await benchExport(10_000, { target: '<= 2.5' })),
    ...(await benchExport(60_000, { target: '<= 4', details: true })),
  ],
  worktrees: benchWorktrees,
  readers: benchReaders,
  receivers: benchReceivers,
  lsp: benchLsp,
  floods: benchFloods,
};

/** Minutes each: with `--long`, or when named. */
export const LONG: Readonly<Record<string, Measure>> = {
  'many-starts': () => benchReady(50_000),
  lists: benchLists,
  rest: benchRest,
  sessions: benchSessions,
};

interface Guarded {
  measure: Measure;
  /** The rows that are compared: CPU time, which a machine that does other work changes least. */
  keys: readonly string[];
}

/** What `npm run bench -- --guard` measures: the same measures with smaller counts. */
export const GUARD: Readonly<Record<string, Guarded>> = {
  'first-calls': {
    measure: () => benchFirstCalls(60),
    keys: ['first-call-tcp-table-cpu', 'first-call-socket-cpu'],
  },
  reads: { measure: () => benchReads({ ones: 1500, lists: 0 }), keys: ['get-one-cpu'] },
  writes: { measure: () => benchCreate(500), keys: ['post-cpu'] },
  starts: {
    measure: () => benchReady(2500),
    keys: ['ready-fresh-2500-cpu', 'ready-known-2500-cpu'],
  },
  verbs: {
    measure: () => benchVerbs(2),
    keys: ['verb-ls-cpu', 'verb-status-cpu'],
  },
  export: {
    measure: () => benchExport(10_000, { target: '<= 2.5' }),
    keys: ['export-10000-archiver-cpu'],
  },
};
