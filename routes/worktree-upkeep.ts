import { Type } from 'typebox';
import {
  changeConfig,
  readWorktreeConfig,
  type ServedConfig,
} from '../lib/code/worktrees/config.ts';
import { cleanUp } from '../lib/code/worktrees/keep/cleanup.ts';
import { forgetRecovery } from '../lib/code/worktrees/keep/forget-recovery.ts';
import { listRecoveries } from '../lib/code/worktrees/keep/recoveries.ts';
import { restoreWorktree } from '../lib/code/worktrees/keep/restore.ts';
import { staleWorktrees } from '../lib/code/worktrees/look/stale.ts';
import { branchNameFor } from '../lib/code/worktrees/make/branch-name.ts';
import { worktreeOf } from '../lib/code/worktrees/read.ts';
import { setUpAgain } from '../lib/code/worktrees/setup/setup.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { Id } from '../store/records/id.ts';
import { Recovery } from '../store/records/recovery.ts';
import { Worktree } from '../store/records/worktree.ts';
import { WorktreeConfig, WorktreeConfigChange } from '../store/records/worktree-config.ts';
import {
  BranchName,
  Cleanup,
  CleanupWish,
  StaleWorktree,
} from '../store/records/worktree-upkeep.ts';
import { GIT, READING, TAKING } from './problems.ts';
import { made } from './worktrees.ts';

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

export const worktreeUpkeepRoutes = [
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
    errors: ['no_repository', 'trust_needed', 'unreadable_record', ...GIT],
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
    errors: ['no_repository', 'trust_needed', 'unreadable_record', ...GIT],
    handler: ({ params }, service) => forgetRecovery(service, params.case_id, params.recovery_id),
  }),
];

const configured = ({ config, etag }: ServedConfig) => tagged(config, etag);
