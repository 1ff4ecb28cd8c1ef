import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './id.ts';

/** An API key as it is kept: the key itself is nowhere, and was shown once. */
export const ApiKey = Type.Object({
  id: Id,
  name: Type.String({ minLength: 1, maxLength: 100 }),
  /** Of the whole key, which is random: nobody finds it by trying. */
  sha256: Sha256,
  created_at: Time,
  /** To about five minutes; null until it is used. */
  last_used_at: Type.Union([Type.Null(), Time]),
});
export type ApiKey = Static<typeof ApiKey>;
