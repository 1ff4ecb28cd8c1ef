import { type Static, Type } from 'typebox';
import { Description } from './case.ts';
import { Id, orNull, Time, Word } from './fields.ts';
import { Worktree } from './worktree.ts';

export const ConversationAgent = Type.Enum(['claude', 'codex'], {
  description: 'Claude Code or Codex',
});

export const AdoptableSession = Type.Object(
  {
    agent: ConversationAgent,
    id: Type.String({ format: 'uuid', description: "The agent's own id" }),
    title: Type.String({ description: 'Its name, or the first line of what you said' }),
    directory: Type.String({ description: 'Where it ran' }),
    branch: orNull(Type.String({ description: 'The branch there, as the agent recorded it' })),
    updated_at: Time,
    bytes: Type.Integer({ description: 'The size of its transcript' }),
    case_id: orNull({ ...Id, description: 'The Work item that it became on this machine' }),
  },
  { $id: 'AdoptableSession' },
);
export type AdoptableSession = Static<typeof AdoptableSession>;

const WaitingCommits = {
  commits: Type.Integer({ description: 'The number of its commits that the base does not have' }),
  subject: Type.String({ description: 'The first line of the newest' }),
  committed_at: Time,
};

const AdoptableWorktree = Type.Object(
  {
    path: Type.String(),
    branch: Type.String(),
    ...WaitingCommits,
  },
  { $id: 'AdoptableWorktree' },
);

export const AdoptableBranch = Type.Object(
  { name: Type.String(), ...WaitingCommits },
  { $id: 'AdoptableBranch' },
);
export type AdoptableBranch = Static<typeof AdoptableBranch>;

export const Adoptable = Type.Object(
  {
    project: Type.String(),
    repository: Type.String({ description: 'The checkout of the project' }),
    sessions: Type.Array(AdoptableSession, { description: 'The newest first, at most 100' }),
    worktrees: Type.Array(AdoptableWorktree),
    branches: Type.Array(AdoptableBranch, { description: 'The newest first, at most 100' }),
  },
  { $id: 'Adoptable' },
);
export type Adoptable = Static<typeof Adoptable>;

export const SessionToAdopt = Type.Object(
  {
    ...AdoptableSession.properties,
    description: Type.String({ description: 'The first message of the operator' }),
    summary: Type.String({
      description: 'Markdown for `summary` of `POST /api/adopt`, as it is or edited',
    }),
    plan: orNull(
      Type.String({ description: 'The last plan that the agent proposed, which was not approved' }),
    ),
    uncommitted: Type.Integer({
      description: 'The number of uncommitted files where it ran, which can be copied',
    }),
  },
  { $id: 'SessionToAdopt' },
);
export type SessionToAdopt = Static<typeof SessionToAdopt>;

export const AdoptionWish = Type.Object({
  session: Type.Optional(
    Type.Object({
      agent: ConversationAgent,
      id: Type.String({ format: 'uuid' }),
      summary: Type.String({
        minLength: 1,
        maxLength: 200_000,
        description: 'Markdown, which becomes `memory/adopted.md`: agents read it',
      }),
      copy_changes: Type.Optional(
        Type.Boolean({
          description:
            'Copy the uncommitted files of the directory where it ran into a new worktree (default: true). The originals stay',
        }),
      ),
    }),
  ),
  worktree: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4096, description: 'The path of a worktree' }),
  ),
  branch: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  title: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Default: the title of the session, or the subject of the newest commit',
    }),
  ),
  description: Type.Optional(Description),
  type: Type.Optional(Word),
  project: Type.Optional(Type.String({ minLength: 1 })),
});
export type AdoptionWish = Static<typeof AdoptionWish>;

export const Adopted = Type.Object(
  {
    case_id: Id,
    title: Type.String(),
    worktree: orNull(Worktree),
    copied: Type.Integer({ description: 'The number of uncommitted files that were copied' }),
    transcript: orNull(
      Type.String({ description: 'Its transcript on this machine, relative to the workspace' }),
    ),
  },
  { $id: 'Adopted' },
);
export type Adopted = Static<typeof Adopted>;
