/** `npm run crash` does the same for longer, and with pairs and triples of operations. DOSSIER_SEED: where to begin. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { canTrace } from '../helpers/strace.ts';
import { type Call, pathOf, stringOf } from './calls.ts';
import { OPERATIONS } from './operations.ts';
import type { Forget } from './recording.ts';
import { alone, numbered, type Row, triples } from './rows.ts';
import { type Found, linesOf, searchPerformed } from './search.ts';
import { makeStage } from './stage.ts';
import { type Performed, perform, tracedOf } from './traced.ts';

const seed = Number(process.env.DOSSIER_SEED ?? 1);

const needsSessions = ({ operations }: Row): boolean =>
  OPERATIONS.some(({ name, image }) => image === 'sessions' && operations.includes(name));

const ROWS = numbered(
  [...alone(), ...triples(6, seed).filter((row) => !needsSessions(row))].map(
    ({ operations }) => operations,
  ),
);

const { stage, remove } = makeStage();
after(remove);
let running: Promise<Performed[]> | undefined;

/** All rows, once. */
const performed = (): Promise<Performed[]> => {
  running ??= perform(stage, ROWS);
  return running;
};

const performedAs = async (name: string): Promise<Performed> => {
  const one = (await performed()).find(({ operations }) => operations.join() === name);
  assert.ok(one);
  return one;
};

const unknownOf = (found: readonly Found[]): string =>
  found
    .filter(({ known }) => known === undefined)
    .map((one) => linesOf(one).join('\n'))
    .join('\n\n');

/** What a daemon that forgets these syncs loses of a new title. */
const losesOf = async (forget: Forget): Promise<string> => {
  const rows = [await performedAs('change the title')];
  const isEnough = (found: readonly Found[]): boolean => found.length > 0;
  return unknownOf((await searchPerformed(rows, { seed, most: 24, forget, isEnough })).found);
};

describe('a power cut', () => {
  it('loses nothing that was answered, and leaves nothing that needs a hand', async (t) => {
    if (!canTrace(t)) return;
    const rows = await performed();
    // Sessions run programs, and take ten times as long.
    const slow = rows.filter(({ row }) => needsSessions(row));
    const quick = rows.filter(({ row }) => !needsSessions(row));
    const parts = [
      await searchPerformed(quick, { seed, most: 12 }),
      await searchPerformed(slow, { seed, most: 4 }),
    ];
    const states = parts.reduce((sum, part) => sum + part.states, 0);
    t.diagnostic(`${states} states`);
    assert.equal(unknownOf(parts.flatMap(({ found }) => found)), '');
    assert.ok(states >= 300, `${states} states are too few`);
  });

  it('is found to lose a record whose file was not synced', async (t) => {
    if (!canTrace(t)) return;
    assert.match(await losesOf((path) => /\.dossier\/tmp\/[^/]+$/.test(path)), /case\.md/);
  });

  it('is found to lose a record whose directory was not synced', async (t) => {
    if (!canTrace(t)) return;
    const loses = await losesOf((path, kind) => kind === 'directory' && path.includes('/cases/'));
    assert.match(loses, /is .*Before.*should be .*After/);
  });

  it('cannot tear the index that a turn starts with', async (t) => {
    if (!canTrace(t)) return;
    const { calls } = await performedAs('approve the plan, which runs');
    const isPlaced = ({ name, args }: Call): boolean =>
      name === 'rename' && /\/\.dossier\/repositories\/[\w-]+$/.test(stringOf(args[1]));
    const placed = calls.findIndex(isPlaced);
    assert.ok(placed > 0);
    const synced = calls
      .slice(0, placed)
      .filter(({ name }) => name === 'fsync')
      .map(({ args }) => pathOf(args[0]));
    assert.ok(synced.some((path) => path.endsWith('/git/index')));
    assert.ok(synced.some((path) => path.endsWith('/objects/info/alternates')));
  });

  it('is found to lose an event whose line was not synced', async (t) => {
    if (!canTrace(t)) return;
    assert.match(await losesOf((path) => path.endsWith('.ndjson')), /that was told is gone/);
  });
});

describe('the note of a program that no sandbox holds', () => {
  it('is on disk before the program starts, and gone from it before the session has ended', async (t) => {
    if (!canTrace(t)) return;
    const { changes, said } = tracedOf(await performedAs('approve the plan, which runs'));
    const notes = changes.filter(({ what }) => what.includes('/unsandboxed/'));
    const done = said.find(({ what }) => what === 'done/0')?.at ?? 0;
    assert.deepEqual(
      notes.map(({ what }) => what.split(' ')[0] === 'rename' || what.endsWith(' removed')),
      [true, true],
    );
    for (const note of notes)
      assert.ok(note.kind === 'names' && (note.edits[0]?.synced ?? done) < done, note.what);
  });
});

describe('the commit of completed work', () => {
  it('is on disk, with the names of its objects, before the session has ended', async (t) => {
    if (!canTrace(t)) return;
    const { changes, said } = tracedOf(await performedAs('approve the plan, which runs'));
    const done = said.find(({ what }) => what === 'done/0')?.at ?? 0;
    const made = changes.filter(({ what }) =>
      /^link repository\/\.git\/objects\/[0-9a-f]{2}\//.test(what),
    );
    const named = changes.filter(({ what }) => /^rename .*refs\/heads\/work\//.test(what));
    // The commit, its tree and its file, and the branch.
    assert.ok(made.length >= 3 && named.length > 0, `${made.length} ${named.length}`);
    for (const one of [...made, ...named])
      assert.ok(one.kind === 'names' && (one.edits.at(-1)?.synced ?? done) < done, one.what);
  });
});

describe('the .git file of a worktree', () => {
  it('is on disk before it takes the place of another', async (t) => {
    if (!canTrace(t)) return;
    const { changes } = tracedOf(await performedAs('approve the plan, which runs'));
    const written = changes.flatMap((one) =>
      one.kind === 'write' && /\/\.git-[0-9a-f-]+$/.test(one.what) ? one : [],
    );
    assert.ok(written.length > 0);
    for (const { ino, at, synced, what } of written) {
      const placed = changes.find(
        (one) =>
          one.kind === 'names' &&
          one.at > at &&
          one.what.startsWith('rename') &&
          one.edits.some((edit) => edit.ino === ino),
      );
      assert.ok(placed !== undefined && synced < placed.at, what);
    }
  });
});
