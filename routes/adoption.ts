import { Type } from 'typebox';
import { created } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { adopt } from '../lib/transfer/adopt/adopt.ts';
import { listAdoptable, sessionToAdopt } from '../lib/transfer/adopt/adoptable.ts';
import {
  Adoptable,
  Adopted,
  AdoptionWish,
  ConversationAgent,
  SessionToAdopt,
} from '../store/records/adoption.ts';
import { GIT, TAKING } from './problems.ts';

const OfProject = Type.Object({
  project: Type.Optional(
    Type.String({ minLength: 1, description: 'Default: `default`, or the only project' }),
  ),
});

const READING = ['no_repository', 'trust_needed', 'invalid_state', ...GIT] as const;

export const adoptionRoutes = [
  route('GET /api/adoptable', {
    operationId: 'listAdoptable',
    summary: 'List sessions, worktrees and unmerged branches that could become Work items',
    description:
      "Reads git, and the transcripts that Claude Code and Codex keep in this user's home for the project's repository. Changes nothing.",
    query: OfProject,
    response: Adoptable,
    errors: READING,
    handler: ({ query }, service) => listAdoptable(service, query.project),
  }),
  route('GET /api/adoptable/sessions/{agent}/{id}', {
    operationId: 'readAdoptableSession',
    summary: 'Read one of these sessions, with the memory that is proposed for its Work item',
    params: { agent: ConversationAgent, id: Type.String({ format: 'uuid' }) },
    query: OfProject,
    response: SessionToAdopt,
    errors: ['not_found', 'too_large', ...READING],
    handler: ({ params: { agent, id }, query }, service) =>
      sessionToAdopt(service, { agent, id, project: query.project }),
  }),
  route('POST /api/adopt', {
    operationId: 'adoptWork',
    summary: 'Create a Work item from a session, a worktree, or a branch',
    description:
      'Send one of them. For a session, the summary becomes `memory/adopted.md`, the transcript is copied below `.dossier/`, and uncommitted files are copied into a new worktree; a plan in it is not approved. A worktree is attached as it is. A branch is checked out in a new worktree. The session, worktree or branch itself is not changed.',
    body: AdoptionWish,
    maxBytes: 1_048_576,
    response: Adopted,
    status: 201,
    errors: ['not_found', 'too_large', 'not_a_worktree', 'branch_in_use', 'file_busy', ...TAKING],
    handler: async ({ body }, service) => {
      const made = await adopt(service, body);
      return created(`/cases/${made.case_id}`, made);
    },
  }),
];
