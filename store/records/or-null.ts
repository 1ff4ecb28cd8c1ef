import { type TSchema, Type } from 'typebox';

/** What may be unknown, or not be there. */
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** A field of a change: left out it stays as it is, null takes it out. */
export const changed = <S extends TSchema>(schema: S) => Type.Optional(orNull(schema));
