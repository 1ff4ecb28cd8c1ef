import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './fields.ts';

/** A stored API key. The key itself is not stored; it is shown once, when it is created. */
export const ApiKey = Type.Object({
  id: Id,
  name: Type.String({ minLength: 1, maxLength: 100 }),
  /** The hash of the whole key, which is random and too long to guess. */
  sha256: Sha256,
  created_at: Time,
  /** Accurate to about five minutes; null until the key is used. */
  last_used_at: Type.Union([Type.Null(), Time]),
});
export type ApiKey = Static<typeof ApiKey>;
