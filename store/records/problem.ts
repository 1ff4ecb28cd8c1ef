import { type Static, Type } from 'typebox';

/** Why a file cannot be read as a record. */
export const ProblemRecord = Type.Object(
  {
    file: Type.String({ description: 'Relative to the workspace' }),
    code: Type.String(),
    message: Type.String(),
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
  },
  { $id: 'FileProblem' },
);
export type ProblemRecord = Static<typeof ProblemRecord>;
