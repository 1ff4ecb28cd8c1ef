import { Type } from 'typebox';
import { attachWorktree } from '../lib/code/worktrees/create/attach.ts';
import { baseOf, branchNameFor } from '../lib/code/worktrees/create/base-and-branch.ts';
import { createWorktree } from '../lib/code/worktrees/create/create.ts';
import { verifyIsolation } from '../lib/code/worktrees/inspect/isolation.ts';
import { listWorktreesAndRecoveries } from '../lib/code/worktrees/inspect/list.ts';
import { staleWorktrees } from '../lib/code/worktrees/inspect/stale.ts';
import { worktreeHealth, worktreeStatus } from '../lib/code/worktrees/inspect/status.ts';
import { uncommittedWorktrees } from '../lib/code/worktrees/inspect/uncommitted.ts';
import { getWorktree, worktreeOf } from '../lib/code/worktrees/read.ts';
import { setUpAgain } from '../lib/code/worktrees/setup/setup.ts';
import { created } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { cleanUpWithRebases, removeWorktreeWithRebase } from '../lib/work/conflicts/remove.ts';
import { memoryRoot } from '../lib/work/memory/memory.ts';
import { Id } from '../store/records/fields.ts';
import { Worktree, WorktreeBase, type WorktreeRecord } from '../store/records/worktree.ts';
import {
  CurrentStatus,
  WorktreeHealth,
  WorktreeIsolation,
} from '../store/records/worktree-status.ts';
import {
  BranchName,
  Cleanup,
  CleanupWish,
  KnownWorktree,
  StaleWorktree,
  UncommittedWorktree,
} from '../store/records/worktree-upkeep.ts';
import { BASE, gitName } from './fields.ts';
import { GIT, READING, TAKING } from './problems.ts';

const NewWorktree = Type.Object({
  case_id: Id,
  branch: gitName('The name of the branch; an existing one is checked out unchanged'),
  base: BASE,
});

const Attachment = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 4096, description: 'An absolute path' }),
  base: gitName('The base of its diff: a branch, tag or commit; default: as for a new worktree'),
});

const MemoryRoot = Type.Object({
  case_id: Id,
  path: Type.String({ description: "The Work item's memory directory, absolute" }),
  exists: Type.Boolean({ description: 'It is created with the first memory file' }),
  global_path: Type.String({ description: "The workspace's global memory, absolute" }),
});

const BranchWish = Type.Object({
  case_id: Id,
  template: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A template to try instead of the one in the settings',
    }),
  ),
});

const REFUSED = ['lock_held', 'session_active', 'worktree_busy', ...READING] as const;

export const worktreeRoutes = [
  route('POST /api/worktrees', {
    summary: 'Create a git worktree for a Work item',
    description:
      'Also copies files into it and runs the setup commands of the settings, and returns after that. Failures of the setup are in `setup`; the worktree is kept.',
    body: NewWorktree,
    response: Worktree,
    status: 201,
    errors: [
      'not_found',
      'already_exists',
      'branch_in_use',
      'worktree_busy',
      'unreadable_record',
      'no_repository',
      'trust_needed',
      'invalid_state',
      ...GIT,
    ],
    handler: async ({ body }, service) => made(await createWorktree(service, body.case_id, body)),
  }),
  route('GET /api/worktrees', {
    summary: 'List all worktrees, oldest first, then Work items with only saved work',
    description: 'Does not inspect the worktrees: see `health` and `stale`.',
    response: Type.Array(KnownWorktree),
    handler: (_input, service) => listWorktreesAndRecoveries(service),
  }),
  route('POST /api/worktrees/{case_id}/attach', {
    operationId: 'attachWorktree',
    summary: 'Attach an existing directory as the worktree of a Work item',
    description:
      'It must be a git working tree on a branch: a linked worktree or a clone. It must not be the checkout of a project, inside the workspace, or the worktree of another Work item. It is not changed, and never deleted: DELETE only detaches it.',
    body: Attachment,
    response: Worktree,
    status: 201,
    errors: ['not_a_worktree', ...TAKING],
    handler: async ({ params, body }, service) =>
      made(await attachWorktree(service, params.case_id, body)),
  }),
  route('GET /api/worktrees/{case_id}/base', {
    operationId: 'readWorktreeBase',
    summary: 'Read the base of the worktree of a Work item, or the base that a new one would have',
    description: 'Does not fetch.',
    query: Type.Object({ base: BASE }),
    response: WorktreeBase,
    errors: ['no_repository', 'invalid_state', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params, query }, service) => baseOf(service, params.case_id, query.base),
  }),
  route('GET /api/cases/{id}/worktree', {
    summary: 'Read the worktree of a Work item',
    description: 'As recorded when it was created. `status` reads the current state from git.',
    response: Worktree,
    errors: ['unreadable_record', 'worktree_elsewhere'],
    handler: async ({ params }, { store }) => worktreeOf(getWorktree(store, params.id)),
  }),
  route('DELETE /api/cases/{id}/worktree', {
    summary: 'Remove the worktree of a Work item; its branch is kept',
    description:
      'Refused while it is in use, and while it has uncommitted files or commits that are on no remote and no other branch. `force=true` first saves these as a patch in `recovered/` of the Work item, and under `refs/dossier/recovered/` of the repository, from where they can be restored. Ignored files and the content of submodules are not saved. An attached directory is only detached.',
    query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
    errors: [
      'session_active',
      'lock_held',
      'work_would_be_lost',
      'worktree_busy',
      'worktree_tampered',
      'unreadable_record',
      ...GIT,
    ],
    handler: ({ params, query }, service) =>
      removeWorktreeWithRebase(service, params.id, { force: query.force ?? false }),
  }),
  route('GET /api/worktrees/{case_id}/health', {
    summary: 'Check the worktree and its session lock',
    response: WorktreeHealth,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => worktreeHealth(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/status', {
    summary: 'Read the status of the worktree, with its uncommitted files',
    response: CurrentStatus,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => worktreeStatus(service, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/verify-isolation', {
    summary: 'Check that changes in the worktree do not reach the main branch and checkout',
    description: 'Changes nothing.',
    response: WorktreeIsolation,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => verifyIsolation(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/memory-root', {
    summary: "Read the paths of a Work item's memory and of the global memory",
    description: 'Independent of the worktree, because memory belongs to the Work item.',
    response: MemoryRoot,
    handler: ({ params }, { store }) => memoryRoot(store, params.case_id),
  }),
  route('GET /api/worktrees/stale', {
    operationId: 'listStaleWorktrees',
    summary: 'List the worktrees that have not been used for longer than ttl_hours, longest first',
    description:
      'A worktree with a session that has not ended is never stale. Stale worktrees are not removed automatically.',
    response: Type.Array(StaleWorktree),
    errors: GIT,
    handler: async (_input, service) => (await staleWorktrees(service)).stale,
  }),
  route('GET /api/worktrees/uncommitted', {
    operationId: 'listUncommittedWorktrees',
    summary: 'List the worktrees whose last session left its changes uncommitted',
    description:
      'From the records of sessions: because the commit failed, or the session was paused, failed or was aborted. A worktree whose branch has another commit since is not listed. Its `status` reads its files from git.',
    response: Type.Array(UncommittedWorktree),
    handler: (_input, service) => uncommittedWorktrees(service),
  }),
  route('POST /api/worktrees/cleanup', {
    summary: 'Remove stale worktrees without unsaved work',
    description:
      'Removes the worktrees of `GET /api/worktrees/stale` by the rules of DELETE without force: those with work, in use, or not created by the daemon are skipped with a reason. `dry_run` removes nothing.',
    body: Type.Optional(CleanupWish),
    response: Cleanup,
    errors: GIT,
    handler: ({ body }, service) => cleanUpWithRebases(service, body ?? {}),
  }),
  route('POST /api/worktrees/branch-name', {
    operationId: 'suggestBranchName',
    summary: 'Suggest a branch name for a Work item, without creating the branch',
    description: 'Default of `template`: the one in the settings.',
    body: BranchWish,
    response: BranchName,
    errors: ['not_found', 'no_repository', 'trust_needed', 'invalid_state', ...GIT],
    handler: ({ body }, service) => branchNameFor(service, body.case_id, body.template),
  }),
  route('POST /api/worktrees/{case_id}/setup', {
    summary:
      'Run the setup of the worktree again: copy files and run commands, by the current settings',
    description: 'Returns after the end; failures are in `setup`.',
    response: Worktree,
    errors: ['trust_needed', ...REFUSED, ...GIT],
    handler: async ({ params }, service) => worktreeOf(await setUpAgain(service, params.case_id)),
  }),
];

/** 201 with the worktree. */
export const made = (record: WorktreeRecord) =>
  created<Worktree>(`/api/worktrees/${record.case_id}/status`, worktreeOf(record));
