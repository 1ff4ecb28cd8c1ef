import { type Static, Type } from 'typebox';
import { Sha256, Time } from './fields.ts';

/** The planning files of a Work item, in the order of their stages. */
export const PLANNING_FILES = ['problem-definition.md', 'hypotheses.md', 'tasks.md'] as const;
export const PlanningFile = Type.Enum([...PLANNING_FILES]);
export type PlanningFile = Static<typeof PlanningFile>;

const GeneratedBy = Type.String({
  description: 'The provider that wrote it; `extraction`: derived from the text, without an agent',
});

/** The front matter of planning.md: the generated files, and their approval. */
export const PlanningMatter = Type.Object({
  generated: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({ sha256: Sha256, generated_by: Type.String(), at: Time }),
    ),
  ),
  approved: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Object({ at: Time, artifacts: Type.Record(Type.String(), Sha256) }),
    ]),
  ),
});
export type PlanningMatter = Static<typeof PlanningMatter>;

export const PlanningArtifact = Type.Object(
  {
    filename: PlanningFile,
    stage: Type.Integer({ minimum: 1, maximum: 3 }),
    size: Type.Integer({ description: 'In bytes' }),
    sha256: Sha256,
    generated_by: Type.Union([Type.Null(), GeneratedBy]),
    edited: Type.Boolean({ description: 'Whether it was edited since it was generated' }),
    approved: Type.Boolean({ description: 'Whether it is unchanged since it was approved' }),
  },
  { $id: 'PlanningArtifact' },
);
export type PlanningArtifact = Static<typeof PlanningArtifact>;

const GATE_STATUSES = ['not_started', 'pending', 'approved', 'stale'] as const;

export const PlanningGate = Type.Object(
  {
    status: Type.Enum([...GATE_STATUSES], {
      description:
        '`not_started`: there is no planning file, and the gate is open. `pending`: none was approved. `stale`: a file was changed, added or removed since the approval',
    }),
    artifacts: Type.Array(PlanningArtifact),
    approved_at: Type.Union([Type.Null(), Time]),
    approved_elsewhere: Type.Optional(
      Type.Boolean({
        description:
          'True if planning.md has an approval that the operator did not give on this machine: `pending`',
      }),
    ),
  },
  { $id: 'PlanningGate' },
);
export type PlanningGate = Static<typeof PlanningGate>;

export const PlanningStage = Type.Object(
  {
    filename: PlanningFile,
    stage: Type.Integer({ minimum: 1, maximum: 3 }),
    content: Type.String({ description: 'Markdown' }),
    sha256: Sha256,
    generated_by: GeneratedBy,
  },
  { $id: 'PlanningStage' },
);
export type PlanningStage = Static<typeof PlanningStage>;

export const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    checks: Type.Array(
      Type.Object({
        name: Type.String(),
        ok: Type.Boolean(),
        required: Type.Boolean({ description: 'False for advice that does not prevent readiness' }),
        detail: Type.String(),
      }),
    ),
  },
  { $id: 'Readiness' },
);
export type Readiness = Static<typeof Readiness>;
