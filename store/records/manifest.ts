import { type Static, Type } from 'typebox';
import { Sha256, Time } from './fields.ts';

export const MANIFEST_FORMAT = 'dossier-export/1';
/** The name of the manifest, which is the last entry of the archive. */
export const MANIFEST_NAME = 'manifest.json';

const Path = Type.String({
  minLength: 1,
  description: 'Relative to the workspace, with slashes',
});

/** manifest.json: the files of an export, and those of the workspace that were skipped. */
export const Manifest = Type.Object(
  {
    format: Type.Literal(MANIFEST_FORMAT),
    generated_at: Time,
    counts: Type.Object({
      cases: Type.Integer({ minimum: 0 }),
      sessions: Type.Integer({ minimum: 0 }),
      files: Type.Integer({ minimum: 0 }),
    }),
    files: Type.Array(
      Type.Object({ path: Path, size: Type.Integer({ minimum: 0 }), sha256: Sha256 }),
      {
        description: 'Every file of the archive except this one, sorted by path in code unit order',
      },
    ),
    skipped: Type.Array(Type.Object({ path: Path, reason: Type.String() }), {
      description: 'Files of the workspace that are not in the archive',
    }),
  },
  { $id: 'Manifest' },
);
export type Manifest = Static<typeof Manifest>;
export type ManifestFile = Manifest['files'][number];
export type SkippedFile = Manifest['skipped'][number];
