import { type Static, Type } from 'typebox';
import { Id, orNull, Time } from './fields.ts';

const ISSUE_STATES = ['open', 'closed'] as const;

/**
 * `linked`: unchanged since the last sync. `conflict`: changed here and there. `stale`: not synced yet, or changed there
 * since. `moved`, `missing`: it is not where it was.
 */
const LINK_STATUSES = ['linked', 'conflict', 'stale', 'moved', 'missing'] as const;

const Host = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?$' });
const Repository = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$',
  description: 'owner/name',
});
const IssueNumber = Type.Integer({ minimum: 1 });
const Names = Type.Array(Type.String());

/** `issue` in link.md. A hand-made one needs the repository and number; the first sync adds the rest. */
export const IssueLinkMatter = Type.Object({
  /** Default: `github.com`. */
  host: Type.Optional(Host),
  repository: Repository,
  number: IssueNumber,
  node_id: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum([...LINK_STATUSES])),
  moved_to: Type.Optional(Type.String()),
  imported_at: Type.Optional(Time),
  synced_at: Type.Optional(Time),
  /** When it last changed according to a webhook, by the host's clock. */
  told_at: Type.Optional(Time),
  /** The import job that created the Work item, so that a resumed job recognizes it. */
  import_job: Type.Optional(Id),
  /** The copies in the Work item, which the operator may edit. */
  state: Type.Optional(Type.Enum([...ISSUE_STATES])),
  labels: Type.Optional(Names),
  assignees: Type.Optional(Names),
  milestone: Type.Optional(orNull(Type.String())),
});
export type IssueLinkMatter = Static<typeof IssueLinkMatter>;

/** The front matter of link.md; its body is the log of syncs. */
export const LinkMatter = Type.Object({ issue: Type.Optional(IssueLinkMatter) });
export type LinkMatter = Static<typeof LinkMatter>;

/** The front matter of issue.md: the issue as last synced. Its body is the issue's. */
export const IssueCopyMatter = Type.Object({
  /** Which issue it is. */
  repository: Type.Optional(Repository),
  number: Type.Optional(IssueNumber),
  title: Type.String(),
  state: Type.Enum([...ISSUE_STATES]),
  state_reason: Type.Optional(orNull(Type.String())),
  labels: Names,
  assignees: Names,
  milestone: orNull(Type.String()),
  author: Type.Optional(orNull(Type.String())),
  created_at: Type.Optional(Type.String()),
  updated_at: Type.Optional(Type.String()),
  closed_at: Type.Optional(orNull(Type.String())),
});
export type IssueCopyMatter = Static<typeof IssueCopyMatter>;

/** The linked issue of a Work item as the API returns it. */
export const IssueLink = Type.Object(
  {
    host: Host,
    repository: Repository,
    number: IssueNumber,
    node_id: orNull(Type.String()),
    url: orNull(Type.String()),
    status: Type.Enum([...LINK_STATUSES], {
      description:
        '`linked`: as last synced. `conflict`: changed both here and on the host; `prefer` resolves it. `stale`: not synced yet, or changed on the host since. `moved`, `missing`: the issue was moved or deleted on the host',
    }),
    moved_to: Type.Optional(Type.String({ description: 'The new URL of a moved issue' })),
    imported_at: orNull(Time),
    synced_at: orNull(Time),
    state: orNull(Type.Enum([...ISSUE_STATES])),
    labels: Names,
    assignees: Names,
    milestone: orNull(Type.String()),
  },
  { $id: 'IssueLink' },
);
export type IssueLink = Static<typeof IssueLink>;
