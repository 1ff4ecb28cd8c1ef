import { type Static, Type } from 'typebox';

/** The front matter of `.dossier/local.md`: the paths of this machine, which are not shared. */
export const LocalSettings = Type.Object({
  projects: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
});
export type LocalSettings = Static<typeof LocalSettings>;
