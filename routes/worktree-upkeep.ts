import { Type } from 'typebox';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { branchNameFor } from '../lib/worktrees/branch-name.ts';
import { changeConfig, readConfig, type ServedConfig } from '../lib/worktrees/config.ts';
import { worktreeOf } from '../lib/worktrees/read.ts';
import { setUpAgain } from '../lib/worktrees/setup.ts';
import { Id } from '../store/records/id.ts';
import { Worktree } from '../store/records/worktree.ts';
import { WorktreeConfig, WorktreeConfigChange } from '../store/records/worktree-config.ts';

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

const BranchName = Type.Object({
  case_id: Id,
  branch: Type.String(),
  exists: Type.Boolean({
    description: 'It is in the repository: a worktree on it goes on where it stands',
  }),
  checked_out_at: Type.Union([Type.String(), Type.Null()], {
    description: 'Where it is checked out now: no other worktree can be on it',
  }),
});

const OfCase = Type.Object({ case_id: Id });

const GIT = ['git_failed', 'tool_timeout', 'unavailable'] as const;

const REFUSED = [
  'lock_held',
  'session_active',
  'worktree_busy',
  'worktree_missing',
  'worktree_tampered',
  'unreadable_record',
] as const;

export const worktreeUpkeepRoutes = [
  route({
    method: 'GET',
    path: '/api/worktrees/config',
    summary: 'Read how worktrees are made',
    response: WorktreeConfig,
    handler: async (_input, service) => configured(await readConfig(service)),
  }),
  route({
    method: 'PUT',
    path: '/api/worktrees/config',
    // What it names is run.
    operatorOnly: true,
    summary: 'Change how worktrees are made',
    description:
      'Written below `worktrees` in workspace.md; every other byte of the file stays. What is not given stays as it is; null takes a setting out, and its default holds.',
    body: WorktreeConfigChange,
    response: WorktreeConfig,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ body, ifMatch }, service) =>
      configured(await changeConfig(service, body, ifMatch)),
  }),
  route({
    method: 'POST',
    path: '/api/worktrees/branch-name',
    summary: 'Say what the branch of a Work item is called; makes nothing',
    body: BranchWish,
    response: BranchName,
    errors: ['not_found', 'no_repository', 'invalid_state', ...GIT],
    handler: ({ body }, service) => branchNameFor(service, body.case_id, body.template),
  }),
  route({
    method: 'POST',
    path: '/api/worktrees/{case_id}/setup',
    operatorOnly: true,
    summary: 'Set the worktree up again: copy the files, run the commands, as the settings say now',
    description: 'The answer waits for the end; what failed is told in `setup`.',
    params: OfCase,
    response: Worktree,
    errors: [...REFUSED, ...GIT],
    handler: async ({ params }, service) => worktreeOf(await setUpAgain(service, params.case_id)),
  }),
];

const configured = ({ config, etag }: ServedConfig) => tagged(config, etag);
