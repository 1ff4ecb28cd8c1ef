import { type Static, Type } from 'typebox';

/** The front matter of `.dossier/local.md`: the paths of this machine, which no other clone of the workspace has. */
export const LocalSettings = Type.Object({
  projects: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
});
export type LocalSettings = Static<typeof LocalSettings>;
