/** Recordings of rows of operations: what each did to the disk, from strace. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Call, linesOf, type RowCalls, rowCalls, STRACE } from './calls.ts';
import { imageFor, packedOf } from './images.ts';
import { OPERATIONS } from './operations.ts';
import { type HandedOver, readPacked, writePacked } from './packed.ts';
import type { Recorded } from './record.ts';
import { type Forget, follow, type Recording } from './recording.ts';
import type { Row } from './rows.ts';
import type { Stage } from './stage.ts';
import { treeAfter } from './states.ts';
import { decodeTree, describeTree, type Tree } from './tree.ts';

const PROGRAM = fileURLToPath(new URL('./record.js', import.meta.url));

/** What a row did, call by call. */
export interface Performed extends Omit<Recorded, 'base'> {
  row: Row;
  base: Tree;
  calls: Call[];
}

export interface Traced extends Recording, Omit<Recorded, 'base' | 'end'> {
  row: Row;
}

/** Runs the rows under strace. */
export const perform = async (stage: Stage, rows: readonly Row[]): Promise<Performed[]> => {
  const { root, out } = stage;
  writePacked(join(out, 'rows'), { rows, images: await imagesFor(stage, rows) } as HandedOver);
  const calls = await traced(out, [process.execPath, PROGRAM, root, out], {
    // One thread for files: the calls come in the same order every time.
    ...{ XDG_STATE_HOME: join(root, 'state'), DOSSIER_TRUST: '', UV_THREADPOOL_SIZE: '1' },
  });
  return rows.map((row) => {
    const { base, ...recorded } = readPacked<Recorded>(join(out, `${row.number}`));
    return { ...recorded, row, base: decodeTree(base), calls: calls.of(row.number) };
  });
};

const imagesFor = async (
  { images }: Stage,
  rows: readonly Row[],
): Promise<HandedOver['images']> => {
  const wanted = rows.map(({ operations }) =>
    imageFor(OPERATIONS.filter(({ name }) => operations.includes(name))),
  );
  const all: HandedOver['images'] = {};
  for (const image of new Set(wanted)) all[image] = packedOf(await images(image));
  return all;
};

// What strace writes is read while it does: for some rows together it is hundreds of megabytes.
const traced = async (
  out: string,
  command: readonly string[],
  more: Record<string, string>,
): Promise<RowCalls> => {
  const pipe = join(out, 'strace');
  execFileSync('mkfifo', [pipe]);
  const argv = [...STRACE, `--output=${pipe}`, ...command];
  const child = spawn('strace', argv, { env: { ...process.env, ...more }, stdio: 'inherit' });
  const exited = once(child, 'exit');
  const stream = createReadStream(pipe, { encoding: 'latin1', highWaterMark: PIECE });
  // Were it never opened for writing, the stream would never end.
  const failed = exited.then(([code]) => code !== 0 && stream.destroy());
  const calls = rowCalls();
  for await (const line of linesOf(stream)) calls.take(line);
  await failed;
  const [code] = await exited;
  assert.equal(code, 0, 'the recording program failed');
  rmSync(pipe);
  return calls;
};

const PIECE = 1_048_576;

/** What is on disk when. */
export const tracedOf = (performed: Performed, forget?: Forget): Traced => {
  const { base, calls, end, row, ...recorded } = performed;
  const recording = follow(recorded.world.root, base, calls, forget);
  const said = recording.said.map(({ at, what }) => ({ at, what: what.replace(/^\d+\//, '') }));
  const last = { at: recording.end, lost: new Set<number>(), stays: new Set<number>() };
  const followed = describeTree(treeAfter(recording, { ...last, data: new Map() }));
  const wrong = end.filter((line) => !followed.includes(line));
  wrong.push(...followed.filter((line) => !end.includes(line)));
  assert.deepEqual(wrong, [], `${row.operations}: what was followed is not what is there`);
  return { ...recording, ...recorded, said, row };
};
