import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TurnRecord } from '../../../../store/records/turn.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { placeTurn, saveTurn, turnPlaces } from '../../../../store/worktrees/turn-records.ts';
import { inWorktreeTurn, replaceWorktree } from '../../../../store/worktrees/worktrees.ts';
import type { Launchable } from '../../../agents/launch.ts';
import type { WithLog } from '../../../log.ts';
import type { WithSandbox } from '../../../sandbox/sandbox.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { makeRepository } from '../../turn-repository/begin.ts';
import { pointGitFile, turnView } from '../../turn-repository/dot-git.ts';
import { pinRefs } from '../../turn-repository/pins.ts';
import { listText } from '../../turn-repository/refs.ts';
import { findWorktree, otherWorktrees } from '../read.ts';
import { closeTurn } from './close.ts';
import { NOTHING, type TurnListener, type TurnResult, type TurnTold } from './notices.ts';
import { reclaimTurn } from './reclaim.ts';

interface Wanted {
  marker: string;
  /** Null for a set-up, whose commands are the operator's own. */
  session_id: string | null;
  /** What earlier turns of the session made there, by its name: it is there again. */
  own?: ReadonlyMap<string, string>;
}

export interface OpenTurn {
  /** What whoever works in it sees and may write of git. */
  view: Pick<Launchable, 'writable' | 'kept' | 'binds'>;
  /** What nothing holds, to be told before it begins. */
  unheld: TurnTold[];
  /** Takes in what was done: never rejects. To be called when nothing of the turn is alive any more. */
  close(tell: TurnListener): Promise<TurnResult>;
}

/**
 * Gives a turn in a worktree a repository of its own. What is done in it reaches the operator's when it is closed, and
 * no more of it than the worktree's branch. Without a sandbox the `.git` file of the worktree leads to it meanwhile.
 */
export const openTurn = async (
  service: WithGit & WithLog & WithSandbox & WithStore,
  worktree: WorktreeRecord,
  { own = new Map(), ...wanted }: Wanted,
): Promise<OpenTurn> => {
  const { layout } = service.store;
  const { case_id, git_dir, common_dir } = worktree;
  const isHeld = service.sandbox().kind !== 'none';
  // A directory of the operator's own that nothing lies over: it is used as it is.
  if (!isHeld && git_dir === common_dir)
    return {
      view: { writable: [common_dir], kept: [] },
      unheld: [CLONE],
      close: async () => NOTHING,
    };
  await reclaimTurn(service, case_id);
  const places = turnPlaces(layout, case_id);
  const made = join(layout.tmp, randomUUID());
  const { refs, kinds, ...begun } = await makeRepository(service.git, worktree, {
    made,
    places,
    own,
  });
  const record: TurnRecord = {
    case_id,
    ...wanted,
    ...begun,
    worktree_created_at: worktree.created_at,
    common_dir,
    pointed: !isHeld,
  };
  await saveTurn(layout, record, listText(refs));
  await pinRefs(service.git.at(worktree), case_id, { refs, kinds });
  await placeTurn(layout, case_id, made);
  if (!isHeld) await lead(service.store, worktree, places.dir);
  const view = turnView(worktree, places);
  return { view, unheld: [], close: (tell) => closeTurn(service, case_id, tell) };
};

const CLONE: TurnTold = {
  code: 'git_noted',
  message:
    'No sandbox holds this turn, and the directory that it works in is a repository of your own: its branches, tags, stashes, settings and hooks can be changed, and nothing of that is undone or told.',
};

const lead = (store: Store, worktree: WorktreeRecord, turn_dir: string): Promise<void> =>
  inWorktreeTurn(store, worktree.case_id, async () => {
    const current = findWorktree(store, worktree.case_id) ?? worktree;
    await replaceWorktree(store, { ...current, turn_dir });
    pointGitFile(worktree, worktree.git_dir, turn_dir);
  });

interface May {
  phase: Launchable['phase'];
  /** What it has of git to commit in, branch and the like; without it the repository is only seen. */
  git?: OpenTurn['view'] | undefined;
}

/** What a program in a worktree sees and may write: nothing of `.dossier/`, and nothing of other Work items' worktrees. */
export const viewOf = (
  store: Store,
  worktree: WorktreeRecord,
  { phase, git = seenOnly(worktree) }: May,
): Pick<Launchable, 'cwd' | 'phase' | 'writable' | 'kept' | 'binds' | 'hidden'> => ({
  cwd: worktree.path,
  phase,
  writable: git.writable,
  // The main checkout, too: it may lie in the home directory, of which else nothing is shown.
  kept: [worktree.repository, ...git.kept],
  ...(git.binds && { binds: git.binds }),
  hidden: [store.layout.dossier, ...otherWorktrees(store, worktree.case_id)],
});

const seenOnly = ({ common_dir }: WorktreeRecord): OpenTurn['view'] => ({
  writable: [],
  kept: [common_dir],
});
