import { Type } from 'typebox';
import { removeWorktree } from '../lib/code/worktrees/keep/remove.ts';
import { verifyIsolation } from '../lib/code/worktrees/look/isolation.ts';
import { worktreeHealth, worktreeStatus } from '../lib/code/worktrees/look/status.ts';
import { attachWorktree } from '../lib/code/worktrees/make/attach.ts';
import { createWorktree } from '../lib/code/worktrees/make/create.ts';
import { worktreeOf } from '../lib/code/worktrees/read.ts';
import { created } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { memoryRoot } from '../lib/work/memory/case-memory.ts';
import { Id } from '../store/records/id.ts';
import { Worktree, type WorktreeRecord } from '../store/records/worktree.ts';
import {
  CurrentStatus,
  WorktreeHealth,
  WorktreeIsolation,
} from '../store/records/worktree-status.ts';
import { gitName } from './fields.ts';
import { GIT, TAKING } from './problems.ts';

const NewWorktree = Type.Object({
  case_id: Id,
  branch: gitName('A branch that exists is checked out as it is'),
  base: gitName('A branch, tag or commit; default: as the settings say, else the default branch'),
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
    errors: ['unreadable_record', 'worktree_tampered', ...GIT],
    handler: ({ params }, service) => worktreeHealth(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/status', {
    summary: 'Read the worktree of a Work item and what is not committed in it',
    response: CurrentStatus,
    errors: ['unreadable_record', 'worktree_tampered', ...GIT],
    handler: ({ params }, service) => worktreeStatus(service, params.case_id),
  }),
  route('POST /api/worktrees/{case_id}/verify-isolation', {
    summary: 'Check that what is done in the worktree stays out of the main branch and checkout',
    description: 'Changes nothing.',
    response: WorktreeIsolation,
    errors: ['unreadable_record', 'worktree_tampered', ...GIT],
    handler: ({ params }, service) => verifyIsolation(service, params.case_id),
  }),
  route('GET /api/worktrees/{case_id}/memory-root', {
    summary: "Say where the memory files of a Work item's worktree are",
    description: 'The same with and without a worktree: memory belongs to the Work item.',
    response: MemoryRoot,
    handler: ({ params }, { store }) => memoryRoot(store, params.case_id),
  }),
];

/** 201 with the worktree as it is served. */
export const made = (record: WorktreeRecord) =>
  created<Worktree>(`/api/worktrees/${record.case_id}/status`, worktreeOf(record));
