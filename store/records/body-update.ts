import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './id.ts';

const matter = {
  id: Id,
  pull: Type.Integer({ minimum: 1, description: 'The number of the pull request' }),
  status: Type.Enum(['queued', 'published']),
  base_sha256: Type.String({
    ...Sha256,
    description: 'Of the body as it was on the host when this was suggested',
  }),
  created_at: Time,
};

/** The front matter of pr/updates/<time>-<id>.md, a change of a published body that waits for approval; the body is the new one. */
export const BodyUpdateMatter = Type.Object({
  ...matter,
  published_at: Type.Optional(Type.Union([Type.Null(), Time])),
});
export type BodyUpdateMatter = Static<typeof BodyUpdateMatter>;

/** The same as it is served. */
export const BodyUpdate = Type.Object(
  {
    ...matter,
    case_id: Id,
    published_at: Type.Union([Type.Null(), Time]),
    body: Type.String({ description: 'What is published once it is approved; Markdown' }),
    body_sha256: Type.String({
      ...Sha256,
      description: 'Of `body` as it is now: send it with the approval, which is then bound to it',
    }),
    diff: Type.String({ description: 'Unified, from the body that was published to this one' }),
  },
  { $id: 'BodyUpdate' },
);
export type BodyUpdate = Static<typeof BodyUpdate>;
