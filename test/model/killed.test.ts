/** `npm run soak:model -- --daemon` does the same with more lives and another seed. */
import { describe, it } from 'node:test';
import { killAtRandom } from './killed.ts';

const seed = Number(process.env.DOSSIER_SEED ?? 21);

describe('a daemon that is killed at any moment, again and again', () => {
  it('keeps what it acknowledged, tells each event under one id, and leaves nothing behind', (t) =>
    killAtRandom(t, seed, 6));
});
