import { type Static, Type } from 'typebox';
import { Id, orNull, Time, textOf } from './fields.ts';

export const Directory = textOf('absolute', { description: 'Absolute' });

const Ended = orNull(Time);

/** The network connections of a run, allowed and refused: each target once for each outcome. */
export const Reached = Type.Array(
  Type.Object({
    host: Type.String(),
    port: Type.Integer(),
    allowed: Type.Boolean(),
    reason: Type.Optional(Type.String()),
  }),
  { description: 'Its network connections, allowed and refused' },
);
export type Reached = Static<typeof Reached>;

/** The setup of a new worktree, and its result. */
export const Setup = Type.Object(
  {
    status: Type.Enum(['pending', 'running', 'completed', 'failed', 'interrupted']),
    started_at: Ended,
    ended_at: Ended,
    copied: Type.Array(Type.String(), {
      description: 'Files copied from the main checkout, by copy_files, in all its runs',
    }),
    skipped: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }), {
      description: 'Files or globs that copied nothing',
    }),
    commands: Type.Array(
      Type.Object({
        command: Type.String(),
        status: Type.Enum(['completed', 'failed', 'skipped'], {
          description: '`skipped`: what it installs was copied; `output` says from where',
        }),
        exit_code: orNull(Type.Integer()),
        output: Type.String({ description: 'The output; of a long one the head and the tail' }),
        truncated: Type.Boolean(),
      }),
      { description: 'The commands that were started or skipped, in order' },
    ),
    network: Type.Optional(Reached),
    share: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What was kept for later worktrees by `share`, or why not, one sentence each',
      }),
    ),
    error: orNull(Type.String(), 'What went wrong, and what to do'),
  },
  { $id: 'WorktreeSetup' },
);
export type Setup = Static<typeof Setup>;

/** The worktree of a Work item as the API returns it. */
export const Worktree = Type.Object(
  {
    case_id: Id,
    path: Directory,
    branch: Type.String({ minLength: 1 }),
    base: Type.String({ minLength: 1, description: 'The base branch or commit' }),
    base_commit: textOf('oid', {
      description: 'The base commit of its diff',
    }),
    base_notes: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Warnings about the base, from when the worktree was created',
      }),
    ),
    attached: Type.Boolean({
      description: 'Whether it is an existing directory of the operator, which is never deleted',
    }),
    created_at: Time,
    setup: Type.Optional(Setup),
  },
  { $id: 'Worktree' },
);
export type Worktree = Static<typeof Worktree>;

export const NewInBase = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
  description: 'Commits of the base that the branch does not have; null if unknown',
});

/** The base of a worktree, or the base that it would get now. */
export const WorktreeBase = Type.Object(
  {
    base: Worktree.properties.base,
    base_commit: Worktree.properties.base_commit,
    subject: Type.String({ description: "The first line of the commit's message" }),
    committed_at: Time,
    new_in_base: Type.Optional(NewInBase),
    notes: Type.Array(Type.String(), {
      description: 'Warnings about the choice, one sentence each',
    }),
    exists: Type.Boolean({ description: 'Whether the worktree exists and has this base' }),
  },
  { $id: 'WorktreeBase' },
);
export type WorktreeBase = Static<typeof WorktreeBase>;

/** The record on this machine only. Git commands use its directories. */
export const WorktreeRecord = Type.Object({
  ...Worktree.properties,
  repository: Directory,
  git_dir: Directory,
  common_dir: Directory,
  /** The marker in the environment of the setup's processes. */
  setup_marker: Type.Optional(Id),
  /** Pairs of commits whose conflict the operator dismissed from the inbox. */
  dismissed_overlaps: Type.Optional(Type.Array(Type.String())),
  /** The target of its `.git` file during a turn without a sandbox. */
  turn_dir: Type.Optional(Directory),
});
export type WorktreeRecord = Static<typeof WorktreeRecord>;

/** A worktree operation in progress (create, remove, or move a file): recorded before its first step, deleted after its last. */
export const WorktreeChange = Type.Object({
  case_id: Type.String(),
  change: Type.Enum(['make', 'remove', 'move']),
  path: Directory,
  branch: Type.String(),
  common_dir: Directory,
  /** The paths of a move, relative to the top of the worktree. */
  moved: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
});
export type WorktreeChange = Static<typeof WorktreeChange>;
