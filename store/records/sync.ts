import { type Static, Type } from 'typebox';
import { Id, orNull, Time } from './fields.ts';
import { IssueNumber } from './import-job.ts';

export const FIELDS = [
  'title',
  'description',
  'labels',
  'assignees',
  'milestone',
  'state',
] as const;
export type FieldName = (typeof FIELDS)[number];

/**
 * `taken`: changed on the host only. `kept`: changed here only. `same`: changed alike. `conflict`: changed on both, and
 * kept. `settled`: a conflict resolved by the operator.
 */
const FIELD_OUTCOMES = ['taken', 'kept', 'same', 'conflict', 'settled'] as const;
const SYNC_OUTCOMES = ['unchanged', 'updated', 'conflict', 'moved', 'missing'] as const;
const TRIGGERS = ['link', 'sync', 'sync_all'] as const;

const Value = Type.Union([Type.Null(), Type.String(), Type.Array(Type.String())]);

export const FieldSync = Type.Object(
  {
    field: Type.Enum([...FIELDS]),
    outcome: Type.Enum([...FIELD_OUTCOMES], {
      description:
        '`taken`: changed on the host only. `kept`: changed here only. `same`: the same change on both. `conflict`: changed on both, and not changed here. `settled`: a resolved conflict',
    }),
    base: Type.Optional(Value),
    here: Type.Optional(Value),
    host: Type.Optional(Value),
  },
  { $id: 'FieldSync' },
);
export type FieldSync = Static<typeof FieldSync>;

const common = {
  id: Id,
  at: Time,
  trigger: Type.Enum([...TRIGGERS]),
  outcome: Type.Enum([...SYNC_OUTCOMES]),
  prefer: Type.Optional(Type.Enum(['local', 'remote'])),
  moved_to: Type.Optional(Type.String()),
  fields: Type.Array(FieldSync, {
    description:
      'The values that differed: in the last synced copy (`base`; absent if there was none), `here` and on the `host`',
  }),
};

/** The front matter of syncs/<time>-<id>.md, one sync that changed or found something; long texts are in its body. */
export const SyncMatter = Type.Object(common);
export type SyncMatter = Static<typeof SyncMatter>;

/** One sync in the log. */
export const Sync = Type.Object({ case_id: Id, ...common }, { $id: 'Sync' });
export type Sync = Static<typeof Sync>;

/** The result of the sync of one Work item. */
export const SyncResult = Type.Object({
  case_id: Id,
  outcome: Type.Enum([...SYNC_OUTCOMES], {
    description: '`unchanged`: no difference to the issue',
  }),
  synced_at: Time,
  sync_id: orNull(Id, 'The id of its entry in the sync log'),
  fields: Type.Array(FieldSync, { description: 'The differences' }),
});
export type SyncResult = Static<typeof SyncResult>;

/** The results of all syncs, and why they stopped early. */
export const SyncedAll = Type.Object({
  outcomes: Type.Array(
    Type.Object({
      case_id: Id,
      repository: Type.String(),
      number: IssueNumber,
      outcome: Type.Enum([...SYNC_OUTCOMES, 'failed', 'not_reached']),
      sync_id: orNull(Id),
      detail: orNull(Type.String()),
    }),
  ),
  stopped: Type.Union(
    [
      Type.Null(),
      Type.Object({ code: Type.String(), detail: Type.String(), resume_at: orNull(Time) }),
    ],
    { description: 'Why it stopped early, such as a rate limit' },
  ),
});
export type SyncedAll = Static<typeof SyncedAll>;
