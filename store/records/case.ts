import { type Static, Type } from 'typebox';
import { Id, orNull, Time, textOf, Word } from './fields.ts';
import { ProblemRecord } from './problem.ts';

export const STATES = [
  'OPEN',
  'INVESTIGATING',
  'IMPLEMENTING',
  'VERIFYING',
  'BLOCKED',
  'RESOLVED',
  'NON_ISSUE',
] as const;
export type State = (typeof STATES)[number];

/** Of a Work item that was closed. */
export const CLOSED_STATES: readonly State[] = ['RESOLVED', 'NON_ISSUE'];

export const State = Type.Enum([...STATES], { $id: 'State', description: 'A Work item state' });

/** Events write INVESTIGATING as PLANNING; requests and files may use either name. */
export const StateName = Type.Enum([...STATES, 'PLANNING'], {
  description: 'A Work item state; PLANNING is INVESTIGATING',
});
export type StateName = State | 'PLANNING';

/** The longest title and description, in characters. What is imported is shortened to them. */
export const MOST_CHARACTERS = { title: 200, description: 262_144 } as const;

export const Title = textOf('line', {
  minLength: 1,
  maxLength: MOST_CHARACTERS.title,
  description: 'One line',
});
export const Description = Type.String({
  maxLength: MOST_CHARACTERS.description,
  description: 'Markdown; the body of case.md',
});

/** Where the branch of a Work item was merged. */
export const Merged = Type.Object({
  into: Type.String({ minLength: 1, description: 'The branch that has its changes' }),
  commit: Type.String({
    pattern: '^[0-9a-f]{40,64}$',
    description: 'The commit of its own branch',
  }),
  at: Time,
});
export type Merged = Static<typeof Merged>;

/** The front matter of case.md. Other keys belong to the operator and are kept. */
export const CaseMatter = Type.Object({
  id: Id,
  title: Title,
  type: Word,
  state: StateName,
  outcome: Type.Optional(Type.Union([Type.Null(), Word])),
  project: Type.Optional(Type.String({ minLength: 1 })),
  blocked_from: Type.Optional(State),
  // Shown only if it is a `Merged`: in older workspaces the key may be the operator's.
  merged: Type.Optional(Type.Unknown()),
  created_at: Time,
});
export type CaseMatter = Static<typeof CaseMatter>;

/** A Work item as stored and returned. */
export const Case = Type.Object(
  {
    id: Id,
    title: Title,
    type: Word,
    description: Description,
    state: State,
    outcome: orNull(Word, 'Null while open; also if it was closed in the file without an outcome'),
    project: Type.String({ description: 'The name of a project in the settings' }),
    path: Type.String({ description: 'Its directory, relative to the workspace' }),
    merged: Type.Optional(Merged),
    created_at: Time,
    updated_at: Type.String({
      format: 'date-time',
      description: 'The mtime of case.md',
    }),
    problems: Type.Optional(
      Type.Array(ProblemRecord, {
        description:
          'Files of this Work item that cannot be read or await the operator; `gate_not_satisfied` if it is RESOLVED without a satisfied proof gate',
      }),
    ),
  },
  { $id: 'Case' },
);
export type Case = Static<typeof Case>;
