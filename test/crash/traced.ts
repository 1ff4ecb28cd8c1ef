/** Recordings of rows of operations: what each did to the disk, from strace. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Call, readCalls, SAID, STRACE, stringOf } from './calls.ts';
import type { Recorded } from './record.ts';
import { type Forget, follow, type Recording } from './recording.ts';
import type { Row } from './rows.ts';
import { treeAfter } from './states.ts';
import { decodeTree, describeTree } from './tree.ts';

const PROGRAM = fileURLToPath(new URL('./record.js', import.meta.url));

export interface Traced extends Recording, Omit<Recorded, 'base' | 'end'> {
  row: Row;
}

/** Runs the rows under strace on a world at `root`, and follows them. Both directories are there and empty. */
export const trace = async (
  { root, out }: { root: string; out: string },
  rows: readonly Row[],
  forget?: Forget,
): Promise<Traced[]> => {
  const [log, list] = [join(out, 'strace'), join(out, 'rows.json')];
  writeFileSync(list, JSON.stringify(rows));
  const argv = [...STRACE, `--output=${log}`, process.execPath, PROGRAM, root, out, list];
  // One thread for files: the calls come in the same order every time.
  const more = { XDG_STATE_HOME: join(root, 'state'), DOSSIER_TRUST: '', UV_THREADPOOL_SIZE: '1' };
  const env = { ...process.env, ...more };
  const child = spawn('strace', argv, { env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, 'the recording program failed');
  const calls = readCalls(log);
  return rows.map((row) => tracedOf(root, row, calls, { out, forget }));
};

const tracedOf = (
  root: string,
  row: Row,
  calls: readonly Call[],
  { out, forget }: { out: string; forget: Forget | undefined },
): Traced => {
  const text = readFileSync(join(out, `${row.number}.json`), 'utf8');
  const { base, end, ...recorded } = JSON.parse(text) as Recorded;
  const part = between(calls, `${SAID}${row.number}/begin`, `${SAID}${row.number}/end`);
  const recording = follow(root, decodeTree(base), part, forget);
  const said = recording.said.map(({ at, what }) => ({ at, what: what.replace(/^\d+\//, '') }));
  const last = { at: recording.end, lost: new Set<number>(), stays: new Set<number>() };
  const followed = describeTree(treeAfter(recording, { ...last, data: new Map() }));
  const wrong = end.filter((line) => !followed.includes(line));
  wrong.push(...followed.filter((line) => !end.includes(line)));
  assert.deepEqual(wrong, [], `${row.operations}: what was followed is not what is there`);
  return { ...recording, ...recorded, said, row };
};

const between = (calls: readonly Call[], from: string, to: string): Call[] => {
  const place = (what: string): number =>
    calls.findIndex(({ name, args }) => name === 'access' && stringOf(args[0]) === what);
  return calls.slice(place(from), place(to) + 1);
};
