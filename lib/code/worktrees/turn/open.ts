import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { isAtOrBelowAny } from '../../../../store/base/paths.ts';
import type { TurnRecord } from '../../../../store/records/turn.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { placeTurn, saveTurn, turnPlaces } from '../../../../store/worktrees/turn-records.ts';
import {
  readWorktree,
  replaceWorktree,
  withWorktreeLock,
} from '../../../../store/worktrees/worktrees.ts';
import type { Launchable } from '../../../agents/launch.ts';
import type { WithConfig } from '../../../config.ts';
import type { WithLog } from '../../../log.ts';
import type { WithSandbox } from '../../../sandbox/sandbox.ts';
import { headCommit } from '../../../tools/git/read/repository.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { cleanEnvironment } from '../../../tools/process/environment.ts';
import { makeRepository } from '../../turn-repository/begin.ts';
import { pointGitFile, turnView } from '../../turn-repository/dot-git.ts';
import { indexHashOf } from '../../turn-repository/import-index.ts';
import { pinRefs } from '../../turn-repository/pins.ts';
import { listText } from '../../turn-repository/refs.ts';
import { otherWorktrees } from '../read.ts';
import { closeTurn } from './close.ts';
import type { TurnListener, TurnNotice, TurnResult } from './notices.ts';
import { reclaimTurn } from './reclaim.ts';

interface TurnOptions {
  marker: string;
  /** Null for a setup. */
  session_id: string | null;
  /** Refs that earlier turns of the session created, by name; they are restored. */
  own?: ReadonlyMap<string, string>;
}

export interface OpenTurn {
  /** What the turn sees of git and may write. */
  view: Pick<Launchable, 'writable' | 'kept' | 'binds'>;
  /** Warnings to report before the turn starts, if no sandbox protects the repository. */
  unheld: TurnNotice[];
  /** Imports the work of the turn. Never rejects. Call it after all processes of the turn have ended. */
  close(tell: TurnListener): Promise<TurnResult>;
}

/**
 * Creates a repository for a turn in a worktree. `close` imports the worktree's branch from it into the operator's
 * repository, and no other ref. Without a sandbox the worktree's `.git` file points to it during the turn.
 */
export const openTurn = async (
  service: WithConfig & WithGit & WithLog & WithSandbox & WithStore,
  worktree: WorktreeRecord,
  { own = new Map(), ...wanted }: TurnOptions,
): Promise<OpenTurn> => {
  const { layout } = service.store;
  const { case_id, git_dir, common_dir } = worktree;
  const isHeld = service.sandbox().kind !== 'none';
  await reclaimTurn(service, case_id);
  // An attached clone without a sandbox cannot be covered by a mount: the turn uses it directly.
  if (!isHeld && git_dir === common_dir) return openClone(service, worktree, wanted);
  const places = turnPlaces(layout, case_id);
  const made = join(layout.tmp, randomUUID());
  const { refs, kinds, ...begun } = await makeRepository(service.git, worktree, {
    made,
    places,
    own,
    env: cleanEnvironment(service.config.env),
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
  if (!isHeld) await pointToTurn(service.store, worktree, places.dir);
  const view = turnView(worktree, places);
  return { view, unheld: [], close: (tell) => closeTurn(service, case_id, tell) };
};

// Its record has no repository to import; closing the turn keeps the commit that it began with.
const openClone = async (
  service: WithGit & WithLog & WithStore,
  worktree: WorktreeRecord,
  wanted: Pick<TurnRecord, 'marker' | 'session_id'>,
): Promise<OpenTurn> => {
  const { layout } = service.store;
  const { case_id, common_dir, created_at: worktree_created_at } = worktree;
  const git = service.git.at(worktree);
  const head = (await headCommit(git)) ?? null;
  const begun = { ref: 'HEAD', head, index: indexHashOf([]), operation: {}, pointed: false };
  await saveTurn(layout, { case_id, ...wanted, ...begun, worktree_created_at, common_dir }, '');
  if (head !== null)
    await pinRefs(git, case_id, {
      refs: new Map([['HEAD', head]]),
      kinds: new Map([[head, 'commit']]),
    });
  return {
    view: { writable: [common_dir], kept: [] },
    unheld: [CLONE],
    close: (tell) => closeTurn(service, case_id, tell),
  };
};

const CLONE: TurnNotice = {
  code: 'git_noted',
  message:
    'This turn runs without a sandbox directly in your repository: it can change branches, tags, stashes, settings and hooks, and such changes are neither undone nor reported. If it drops commits, only the one that it started from is kept.',
};

const pointToTurn = (store: Store, worktree: WorktreeRecord, turn_dir: string): Promise<void> =>
  withWorktreeLock(store, worktree.case_id, async () => {
    const current = readWorktree(store, worktree.case_id) ?? worktree;
    await replaceWorktree(store, { ...current, turn_dir });
    pointGitFile(worktree, worktree.git_dir, turn_dir);
  });

interface ViewOptions {
  phase: Launchable['phase'];
  /** The view of a turn's repository; without it the operator's repository is read-only. */
  git?: OpenTurn['view'] | undefined;
}

/**
 * What a program in a worktree sees and may write: nothing in `.dossier/`, in other Work items' worktrees or in the operator's
 * checkout.
 */
export const viewOf = (
  store: Store,
  worktree: WorktreeRecord,
  { phase, git = seenOnly(worktree) }: ViewOptions,
): Pick<Launchable, 'cwd' | 'phase' | 'writable' | 'kept' | 'binds' | 'hidden' | 'covered'> => ({
  cwd: worktree.path,
  phase,
  writable: git.writable,
  kept: git.kept,
  ...(git.binds && { binds: git.binds }),
  hidden: [store.layout.dossier, ...otherWorktrees(store, worktree.case_id)],
  covered: checkoutsOf(worktree),
});

/** The operator's checkouts of the repository that are known: the project's, and the one that its git directory is in. */
const checkoutsOf = ({ path, repository, common_dir }: WorktreeRecord): string[] =>
  [repository, ...(basename(common_dir) === '.git' ? [dirname(common_dir)] : [])].filter(
    (place) => !isAtOrBelowAny(place, [path, common_dir]),
  );

const seenOnly = ({ common_dir }: WorktreeRecord): OpenTurn['view'] => ({
  writable: [],
  kept: [common_dir],
});
