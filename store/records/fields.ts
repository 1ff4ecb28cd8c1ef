import { type TSchema, Type } from 'typebox';

/** The schema or null. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** An optional `orNull`. In a change, an absent value stays, and null removes it. */
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(orNull(schema));

export const Id = Type.String({ format: 'uuid', description: 'A UUID, version 4' });
export const Time = Type.String({
  format: 'date-time',
  description: 'ISO 8601, UTC, milliseconds',
});
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hex' });
/** A type, outcome or provider, such as `bug` or `test-log`. */
export const Word = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,63}$',
  description: 'A lower-case identifier',
});
/** The id of a git object, in hex. */
export const Oid = Type.String({ pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' });
