/** `npm run crash` does the same for longer, and with pairs and triples of operations. DOSSIER_SEED: where to begin. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canTrace } from '../helpers/strace.ts';
import { KNOWN } from './known.ts';
import type { Forget } from './recording.ts';
import { alone, numbered, triples } from './rows.ts';
import { type Found, linesOf, search } from './search.ts';

const seed = Number(process.env.DOSSIER_SEED ?? 1);

const unknownOf = (found: readonly Found[]): string =>
  found
    .filter(({ known }) => known === undefined)
    .map((one) => linesOf(one).join('\n'))
    .join('\n\n');

/** What a daemon that forgets these syncs loses of a new title. */
const losesOf = async (forget: Forget): Promise<string> => {
  const rows = numbered([['change the title']]);
  return unknownOf((await search(rows, { seed, most: 40, forget })).found);
};

describe('a power cut', () => {
  it('loses nothing that was answered, and leaves nothing that needs a hand', async (t) => {
    if (!canTrace(t)) return;
    const one = await search(alone(), { seed, most: 9 });
    const three = await search(triples(4, seed), { seed, most: 9 });
    const states = one.states + three.states;
    t.diagnostic(`${states} states`);
    assert.equal(unknownOf([...one.found, ...three.found]), '');
    assert.ok(states > 200, `${states} states are too few`);
  });

  it('is found to lose a record whose file was not synced', async (t) => {
    if (!canTrace(t)) return;
    assert.match(await losesOf((path) => /\.dossier\/tmp\/[^/]+$/.test(path)), /case\.md/);
  });

  it('is found to lose a record whose directory was not synced', async (t) => {
    if (!canTrace(t)) return;
    const loses = await losesOf((path, kind) => kind === 'directory' && path.includes('/cases/'));
    assert.match(loses, /answered, and .* should be .*After/);
  });

  it('is found to lose an event whose line was not synced', async (t) => {
    if (!canTrace(t)) return;
    assert.match(await losesOf((path) => path.endsWith('.ndjson')), /that was told is gone/);
  });
});

describe('the list of known faults', () => {
  it('names none that is not found any more', async (t) => {
    if (!canTrace(t)) return;
    const rows = numbered(
      [...new Set(KNOWN.map(({ operation }) => operation))].map((one) => [one]),
    );
    const { found } = await search(rows, { seed, most: 60 });
    for (const known of KNOWN)
      assert.ok(
        found.some((one) => one.known === known),
        `${known.says}: take it out of test/crash/known.ts`,
      );
  });
});
