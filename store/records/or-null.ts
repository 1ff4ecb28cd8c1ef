import { type TSchema, Type } from 'typebox';

/** The schema or null. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** An optional `orNull`. In a change, an absent value stays, and null removes it. */
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(orNull(schema));
