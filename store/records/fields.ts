import { type TSchema, type TStringOptions, Type } from 'typebox';
import Format from 'typebox/format';
import { PATTERNS } from './patterns.ts';

// Of the times of ISO 8601 those that JavaScript can compute with and write again: no leap second, no year 10000 in UTC.
Format.Set('date-time', (text) => {
  const year = Format.IsDateTime(text) ? new Date(text).getUTCFullYear() : Number.NaN;
  return year >= 0 && year <= 9999;
});

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
/** A text of a pattern whose meaning errors tell. */
export const textOf = (name: keyof typeof PATTERNS, options: TStringOptions = {}) =>
  Type.String({ pattern: PATTERNS[name][0], ...options });

export const Sha256 = textOf('sha256', { description: 'SHA-256 in hex' });
/** A type, outcome or provider, such as `bug` or `test-log`. */
export const Word = textOf('word', { description: 'A lower-case identifier' });
/** The id of a git object, in hex. */
export const Oid = textOf('oid');
