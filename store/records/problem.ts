import { type Static, Type } from 'typebox';

/** Why a file on disk cannot be used as the record it should be. */
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
