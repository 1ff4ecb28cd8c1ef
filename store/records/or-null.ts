import { type TSchema, Type } from 'typebox';

/** What may be unknown, or not be there. */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** The same for what may be left out, too. In a change: left out it stays as it is, null takes it out. */
export const maybe = <S extends TSchema>(schema: S) => Type.Optional(orNull(schema));
