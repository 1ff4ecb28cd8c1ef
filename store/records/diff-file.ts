import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';

/** A file of a session's patch. */
export const DiffFile = Type.Object(
  {
    path: Type.String(),
    from: orNull(Type.String(), 'The former path of a renamed file, or the source of a copied one'),
    kind: Type.Enum(['changed', 'new', 'deleted', 'renamed', 'copied']),
    added: Type.Integer({ description: 'Lines' }),
    removed: Type.Integer({ description: 'Lines' }),
    runs: Type.Array(Type.String(), {
      description: 'When a program that the file names runs: "runs when you run `make`"',
    }),
  },
  { $id: 'SessionDiffFile' },
);
export type DiffFile = Static<typeof DiffFile>;
