import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './fields.ts';

const matter = {
  id: Id,
  pull: Type.Integer({ minimum: 1, description: 'The number of the pull request' }),
  status: Type.Enum(['queued', 'published']),
  base_sha256: Type.String({
    ...Sha256,
    description: 'The hash of the body on the host when the update was proposed',
  }),
  created_at: Time,
};

/** The front matter of pr/updates/<time>-<id>.md, an update of a published body that awaits approval; the record's body is the new text. */
export const BodyUpdateMatter = Type.Object({
  ...matter,
  published_at: Type.Optional(Type.Union([Type.Null(), Time])),
});
export type BodyUpdateMatter = Static<typeof BodyUpdateMatter>;

/** A body update as the API returns it. */
export const BodyUpdate = Type.Object(
  {
    ...matter,
    case_id: Id,
    published_at: Type.Union([Type.Null(), Time]),
    body: Type.String({ description: 'The body to publish after approval; Markdown' }),
    body_sha256: Type.String({
      ...Sha256,
      description:
        'The hash of `body`. Send it with the approval to bind the approval to this text',
    }),
    diff: Type.String({ description: 'A unified diff from the published body to this one' }),
  },
  { $id: 'BodyUpdate' },
);
export type BodyUpdate = Static<typeof BodyUpdate>;
