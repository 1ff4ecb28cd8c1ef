import { Type } from 'typebox';
import {
  changeConfig,
  readWorktreeConfig,
  type ServedConfig,
} from '../lib/code/worktrees/config.ts';
import { attachWorktree } from '../lib/code/worktrees/create/attach.ts';
import { baseOf, branchNameFor } from '../lib/code/worktrees/create/base-and-branch.ts';
import { createWorktree } from '../lib/code/worktrees/create/create.ts';
import { verifyIsolation } from '../lib/code/worktrees/inspect/isolation.ts';
import { knownWorktrees } from '../lib/code/worktrees/inspect/list.ts';
import { cleanUp, staleWorktrees } from '../lib/code/worktrees/inspect/stale.ts';
import { worktreeHealth, worktreeStatus } from '../lib/code/worktrees/inspect/status.ts';
import { getWorktree, worktreeOf } from '../lib/code/worktrees/read.ts';
import { forgetRecovery, listRecoveries } from '../lib/code/worktrees/recovery/recoveries.ts';
import { removeWorktree } from '../lib/code/worktrees/recovery/remove.ts';
import { restoreWorktree } from '../lib/code/worktrees/recovery/restore.ts';
import { setUpAgain } from '../lib/code/worktrees/setup/setup.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { memoryRoot } from '../lib/work/memory/memory.ts';
import { Id } from '../store/records/id.ts';
import { Recovery } from '../store/records/recovery.ts';
import { Worktree, WorktreeBase, type WorktreeRecord } from '../store/records/worktree.ts';
import { WorktreeConfig, WorktreeConfigChange } from '../store/records/worktree-config.ts';
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
} from '../store/records/worktree-upkeep.ts';
import { BASE, gitName } from './fields.ts';
import { GIT, READING, TAKING } from './problems.ts';

const NewWorktree = Type.Object({
  case_id: Id,
  branch: gitName('A branch that exists is checked out as it is'),
  base: BASE,
});

const Attachment = Type.Object({
  path: Type.String({ minLength: 1, maxLength: 4096, description: 'Absolute' }),
  base: gitName('What its diff is against: a branch, tag or commit; default: as for a new one'),
});

const MemoryRoot = Type.Object({
  case_id: Id,
  path: Type.String({ description: "The Work item's memory directory, absolute" }),
  exists: Type.Boolean({ description: 'It is made when the first memory file is written' }),
  global_path: Type.String({ description: "The workspace's global memory, absolute" }),
});

const BranchWish = Type.Object({
  case_id: Id,
  template: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'To try another one than that of the settings',
    }),
  ),
});

const REFUSED = ['lock_held', 'session_active', 'worktree_busy', ...READING] as const;

export const worktreeRoutes = [
  route('POST /api/worktrees', {
    summary: 'Make a git worktree for a Work item',
    description:
      'Then copies files into it and runs the set-up commands, as the settings say. The answer waits for that; what failed there is told in `setup`, and the worktree stays.',
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
    summary: 'List all worktrees, and the Work items of which work is kept',
    description: 'Without a look into any of them: `health` and `stale` say how they are.',
    response: Type.Array(KnownWorktree),
    handler: (_input, service) => knownWorktrees(service),
  }),
  route('POST /api/worktrees/{case_id}/attach', {
    operationId: 'attachWorktree',
    summary: 'Take a directory of yours as the worktree of a Work item',
    description:
      'A git work tree on a branch: a linked worktree, or a clone. Not the checkout of a project, nothing of the workspace, and none that another Work item has. Nothing is changed in it, and it is never deleted: DELETE lets go of it.',
    body: Attachment,
    response: Worktree,
    status: 201,
    errors: ['not_a_worktree', ...TAKING],
    handler: async ({ params, body }, service) =>
      made(await attachWorktree(service, params.case_id, body)),
  }),
  route('GET /api/worktrees/{case_id}/base', {
    operationId: 'readWorktreeBase',
    summary: 'Read what the worktree of a Work item began from, or would begin from now',
    description: 'Nothing is fetched.',
    query: Type.Object({ base: BASE }),
    response: WorktreeBase,
    errors: ['no_repository', 'invalid_state', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params, query }, service) => baseOf(service, params.case_id, query.base),
  }),
  route('GET /api/cases/{id}/worktree', {
    summary: 'Read where the worktree of a Work item is',
    description: 'As it was made. How it is now is told by `status`, which asks git.',
    response: Worktree,
    errors: ['unreadable_record', 'worktree_elsewhere'],
    handler: async ({ params }, { store }) => worktreeOf(getWorktree(store, params.id)),
  }),
  route('DELETE /api/cases/{id}/worktree', {
    summary: 'Remove the worktree of a Work item; its branch stays',
    description:
      'Refused while somebody is at work in it, and while it holds uncommitted files or commits that no remote and no other branch has. `force=true` first keeps these: as a patch in `recovered/` of the Work item, and under `refs/dossier/recovered/` of the repository, from where they can be restored. Ignored files, and what is inside submodules, are not kept. A directory that was attached is only let go.',
    query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
    errors: [
      'session_active',
      'lock_held',
      'work_would_be_lost',
      'worktree_busy',
      'worktree_tampered',
      'unreadable_record',
      'file_busy',
      ...GIT,
    ],
    handler: ({ params, query }, service) =>
      removeWorktree(service, params.id, { force: query.force ?? false }),
  }),
  route('GET /api/worktrees/{case_id}/health', {
    summary: 'Say how the worktree is and who holds the session lock',
    response: WorktreeHealth,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => worktreeHealth(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/status', {
    summary: 'Read the worktree of a Work item and what is not committed in it',
    response: CurrentStatus,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => worktreeStatus(service, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/verify-isolation', {
    summary: 'Check that what is done in the worktree stays out of the main branch and checkout',
    description: 'Changes nothing.',
    response: WorktreeIsolation,
    errors: ['unreadable_record', 'worktree_tampered', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => verifyIsolation(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/memory-root', {
    summary: "Say where the memory files of a Work item's worktree are",
    description: 'The same with and without a worktree: memory belongs to the Work item.',
    response: MemoryRoot,
    handler: ({ params }, { store }) => memoryRoot(store, params.case_id),
  }),
  route('GET /api/worktrees/stale', {
    operationId: 'listStaleWorktrees',
    summary: 'List the worktrees that nobody has used for longer than ttl_hours, longest first',
    description:
      'A worktree with a session that has not ended is never stale. Nothing is removed by a timer: this only tells.',
    response: Type.Array(StaleWorktree),
    errors: [...GIT],
    handler: async (_input, service) => (await staleWorktrees(service)).stale,
  }),
  route('POST /api/worktrees/cleanup', {
    summary: 'Remove the stale worktrees in which nothing would be lost',
    description:
      'By the list of `GET /api/worktrees/stale`, a dry run too, and by the rules of DELETE without force: what holds work, is in use, or was not made by the daemon is skipped, with the reason.',
    body: Type.Optional(CleanupWish),
    response: Cleanup,
    errors: [...GIT],
    handler: ({ body }, service) => cleanUp(service, body ?? {}),
  }),
  route('GET /api/worktrees/config', {
    operationId: 'getWorktreeConfig',
    summary: 'Read how worktrees are made',
    response: WorktreeConfig,
    handler: async (_input, { store }) => configured(await readWorktreeConfig(store)),
  }),
  route('PUT /api/worktrees/config', {
    operationId: 'putWorktreeConfig',
    // What it names is run.
    summary: 'Change how worktrees are made',
    description:
      'Written below `worktrees` in workspace.md; every other byte of the file stays. What is not given stays as it is; null takes a setting out, and its default holds.',
    body: WorktreeConfigChange,
    response: WorktreeConfig,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, { store }) =>
      configured(await changeConfig(store, body, ifMatch)),
  }),
  route('POST /api/worktrees/branch-name', {
    operationId: 'suggestBranchName',
    summary: 'Say what the branch of a Work item is called; makes nothing',
    description: 'With `template` as that would have it, without one as the settings say.',
    body: BranchWish,
    response: BranchName,
    errors: ['not_found', 'no_repository', 'trust_needed', 'invalid_state', ...GIT],
    handler: ({ body }, service) => branchNameFor(service, body.case_id, body.template),
  }),
  route('POST /api/worktrees/{case_id}/setup', {
    summary: 'Set the worktree up again: copy the files, run the commands, as the settings say now',
    description: 'The answer waits for the end; what failed is told in `setup`.',
    response: Worktree,
    errors: ['trust_needed', ...REFUSED, ...GIT],
    handler: async ({ params }, service) => worktreeOf(await setUpAgain(service, params.case_id)),
  }),
  route('GET /api/worktrees/{case_id}/recoveries', {
    summary: 'List the work that was kept of the worktree, oldest first',
    description:
      'By forced removals, before rebases, and of all that an abort or the end of a Plan turn undid. Nothing of it is removed by itself; what a rebase or a Plan turn under way still needs is not listed.',
    response: Type.Array(Recovery),
    errors: ['no_repository', 'trust_needed', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => listRecoveries(service, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/recoveries/{recovery_id}/restore', {
    operationId: 'restoreWorktreeRecovery',
    summary: 'Make the worktree again as it was when this was kept',
    description:
      'Commits, index, changed and untracked files, byte for byte. Where its branch has moved on since, a new one beside it is made. Set-up commands are not run, and what was kept stays kept.',
    params: { recovery_id: Type.String() },
    response: Worktree,
    status: 201,
    errors: TAKING,
    handler: async ({ params }, service) =>
      made(await restoreWorktree(service, params.case_id, params.recovery_id)),
  }),
  route('DELETE /api/worktrees/{case_id}/recoveries/{recovery_id}', {
    summary: 'Let go of kept work: its ref, and the patch beside the records',
    description: "What no other ref holds goes with git's own clean-up.",
    params: { recovery_id: Type.String() },
    errors: ['no_repository', 'trust_needed', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params }, service) => forgetRecovery(service, params.case_id, params.recovery_id),
  }),
];

/** 201 with the worktree as it is served. */
const made = (record: WorktreeRecord) =>
  created<Worktree>(`/api/worktrees/${record.case_id}/status`, worktreeOf(record));

const configured = ({ config, etag }: ServedConfig) => tagged(config, etag);
