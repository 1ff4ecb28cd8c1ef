import { type Static, Type } from 'typebox';
import { Id, Sha256 } from './fields.ts';

const Image = Type.Object({
  url: Type.String(),
  /** Absent for an image that is not there. */
  sha256: Type.Optional(Sha256),
  missing: Type.Optional(Type.String()),
});

/** What others wrote in the prompt of a session's plan. Work mode gets exactly this. */
export const Told = Type.Object({
  session_id: Id,
  title: Type.String(),
  type: Type.String(),
  description: Type.String(),
  issue: Type.Optional(Type.String()),
  images: Type.Optional(Type.Array(Image)),
  links: Type.Optional(Type.Array(Type.String())),
  reviews: Type.Optional(Type.String()),
});
export type Told = Static<typeof Told>;

/** Which blocks of its approved plan the runbook has run. */
export const Blocks = Type.Object({
  approved_sha256: Sha256,
  /** The ids of those that have ended well, or that the operator skips. */
  done: Type.Array(Type.String()),
  /** The one whose end is not known. */
  begun: Type.Optional(Type.String()),
});
export type Blocks = Static<typeof Blocks>;
