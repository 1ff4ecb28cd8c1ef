import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dossier, Problem, type Worktree } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem, listSessions } from '../connection/find.ts';
import { noWorktree, verb, withRefusals } from './verb.ts';

const LOOK_MS = 100;
const TRIES = 100;

/** `dossier path ITEM`: prints the path of its worktree. Waits while a session that was just started creates it. */
export const path = verb(async (given) => {
  const { dossier, words, report, typed } = given;
  const id = await findItem(given, words[0]);
  const worktree = await withRefusals(worktreeOf(dossier, id), {
    not_found: noWorktree(given, id),
  });
  if (!existsSync(worktree.path))
    throw new Refusal(
      `Its worktree is missing: ${worktree.path} does not exist. To see what you can do: ${typed(`open ${id.slice(0, 8)}`)}`,
    );
  report(worktree, worktree.path);
});

const worktreeOf = async (dossier: Dossier, id: string): Promise<Worktree> => {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await dossier.call('GET /api/cases/{id}/worktree', { id });
    } catch (error) {
      const isMissing = error instanceof Problem && error.code === 'not_found';
      if (!isMissing || left === 0 || !(await isBeingMade(dossier, id))) throw error;
    }
    await delay(LOOK_MS);
  }
};

// A session in Plan mode creates the worktree first.
const isBeingMade = async (dossier: Dossier, id: string): Promise<boolean> =>
  (await listSessions(dossier, id)).at(-1)?.status === 'planning';
