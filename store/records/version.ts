import { type Static, Type } from 'typebox';

// Null if it was not built in a repository.
const OfSource = Type.Union([Type.String(), Type.Null()]);

/** The running version. */
export const VersionInfo = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    api: Type.String({ description: 'The OpenAPI version of the document at /openapi.json' }),
    node: Type.String(),
    platform: Type.String(),
    commit: OfSource,
    built_at: OfSource,
  },
  { $id: 'Version' },
);
export type VersionInfo = Static<typeof VersionInfo>;
