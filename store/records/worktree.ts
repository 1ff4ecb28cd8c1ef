import { type Static, Type } from 'typebox';
import { Id, Time } from './id.ts';
import { orNull } from './or-null.ts';

export const Directory = Type.String({ pattern: '^/', description: 'Absolute' });

const Ended = orNull(Time);

/** What programs of a run reached of the network, and what they were refused: each goal once for each outcome. */
export const Reached = Type.Array(
  Type.Object({
    host: Type.String(),
    port: Type.Integer(),
    allowed: Type.Boolean(),
    reason: Type.Optional(Type.String()),
  }),
  { description: 'What it reached of the network, and what it was refused' },
);
export type Reached = Static<typeof Reached>;

/** What the settings wanted done in a new worktree, and what came of it. */
export const Setup = Type.Object(
  {
    status: Type.Enum(['pending', 'running', 'completed', 'failed', 'interrupted']),
    started_at: Ended,
    ended_at: Ended,
    copied: Type.Array(Type.String(), { description: 'From the main checkout, by copy_files' }),
    skipped: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }), {
      description: 'Files, or globs, of which nothing was copied',
    }),
    commands: Type.Array(
      Type.Object({
        command: Type.String(),
        status: Type.Enum(['completed', 'failed']),
        exit_code: orNull(Type.Integer()),
        output: Type.String({ description: 'Of a long one the head and the tail' }),
        truncated: Type.Boolean(),
      }),
      { description: 'Those that were begun, in their order' },
    ),
    network: Type.Optional(Reached),
    error: orNull(Type.String(), 'What went wrong, and what to do'),
  },
  { $id: 'WorktreeSetup' },
);
export type Setup = Static<typeof Setup>;

/** The worktree of a Work item as it is served. */
export const Worktree = Type.Object(
  {
    case_id: Id,
    path: Directory,
    branch: Type.String({ minLength: 1 }),
    base: Type.String({ minLength: 1, description: 'The branch or commit that it started from' }),
    base_commit: Type.String({
      pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$',
      description: 'The commit of the base that its diff is against',
    }),
    base_notes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What to know of the base, as it was when the worktree was created',
      }),
    ),
    attached: Type.Boolean({
      description: 'An existing directory of the operator: it is never deleted',
    }),
    created_at: Time,
    setup: Type.Optional(Setup),
  },
  { $id: 'Worktree' },
);
export type Worktree = Static<typeof Worktree>;

/** What a worktree began from, or would begin from now. */
export const WorktreeBase = Type.Object(
  {
    base: Worktree.properties.base,
    base_commit: Worktree.properties.base_commit,
    subject: Type.String({ description: "The first line of the commit's message" }),
    committed_at: Time,
    notes: Type.Array(Type.String(), {
      description: 'What to know of the choice, a sentence each',
    }),
    exists: Type.Boolean({ description: 'The worktree exists, and began from this base' }),
  },
  { $id: 'WorktreeBase' },
);
export type WorktreeBase = Static<typeof WorktreeBase>;

/** The record, of this machine only. Its directories are how git is told where all is. */
export const WorktreeRecord = Type.Object({
  ...Worktree.properties,
  repository: Directory,
  git_dir: Directory,
  common_dir: Directory,
  /** In the environment of each process of the set-up. */
  setup_marker: Type.Optional(Id),
  /** Where its `.git` file leads while a turn goes on that nothing shuts in. */
  turn_dir: Type.Optional(Directory),
});
export type WorktreeRecord = Static<typeof WorktreeRecord>;
