import { type Static, Type } from 'typebox';
import { Id, orNull, Time, Word } from './fields.ts';

export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;
export const RESULTS = ['imported', 'exists', 'failed'] as const;
export const MAX_ISSUES = 1000;

/** The largest integer of GraphQL. */
export const IssueNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const Text = Type.String({ minLength: 1, maxLength: 200 });

export const IssueNumbers = Type.Array(IssueNumber, { minItems: 1, maxItems: MAX_ISSUES });

/** The filter for issues on the code host. */
export const FILTERS = {
  state: Type.Optional(Type.Enum(['open', 'closed', 'all'])),
  labels: Type.Optional(
    Type.Array(Text, { maxItems: 100, description: 'Issues must have all of them' }),
  ),
  assignee: Type.Optional(Text),
  creator: Type.Optional(Text),
  milestone: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'The title or number of a milestone; `*` for any, `none` for none',
    }),
  ),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'Updated since' })),
  sort: Type.Optional(Type.Enum(['created', 'updated', 'comments'])),
  direction: Type.Optional(Type.Enum(['asc', 'desc'])),
};

export const ImportFilter = Type.Object(
  {
    ...FILTERS,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_ISSUES,
        description: 'The greatest number of issues; default 1000',
      }),
    ),
  },
  { $id: 'ImportFilter' },
);
export type ImportFilter = Static<typeof ImportFilter>;

const Stop = Type.Object({
  code: Type.String(),
  detail: Type.String(),
});

/** The front matter of imports/<id>.md; its body has a line for each completed issue. */
export const ImportJobMatter = Type.Object({
  id: Id,
  status: Type.Enum([...JOB_STATUSES]),
  project: Type.Optional(Type.String({ minLength: 1 })),
  type: Type.Optional(Word),
  filter: Type.Optional(ImportFilter),
  /** The issues found by the filter, once it has run. */
  numbers: Type.Optional(Type.Array(IssueNumber)),
  created_at: Time,
  started_at: Type.Optional(Time),
  ended_at: Type.Optional(Time),
  /** Why it stopped, and when to resume it. */
  error: Type.Optional(Stop),
  resume_at: Type.Optional(Time),
});
export type ImportJobMatter = Static<typeof ImportJobMatter>;

export const ImportResult = Type.Object(
  {
    number: IssueNumber,
    outcome: Type.Enum([...RESULTS], {
      description: '`exists`: a Work item is already linked to the issue',
    }),
    case_id: Type.Optional(Id),
    detail: Type.Optional(Type.String()),
  },
  { $id: 'ImportResult' },
);
export type ImportResult = Static<typeof ImportResult>;

/** An import job as the API returns it. */
export const ImportJob = Type.Object(
  {
    id: Id,
    status: Type.Enum([...JOB_STATUSES], {
      description:
        '`pending`: it waits to be resumed, after a restart of the daemon or the rate limit of the host',
    }),
    project: Type.String(),
    type: orNull(Word),
    numbers: orNull(
      Type.Array(IssueNumber),
      'The number of issues to import; null until the filter has run',
    ),
    filter: orNull(ImportFilter),
    done: Type.Integer(),
    total: orNull(Type.Integer()),
    results: Type.Array(ImportResult),
    error: orNull(Stop),
    resume_at: orNull(Time, 'When the host accepts requests again'),
    created_at: Time,
    started_at: orNull(Time),
    ended_at: orNull(Time),
  },
  { $id: 'ImportJob' },
);
export type ImportJob = Static<typeof ImportJob>;
