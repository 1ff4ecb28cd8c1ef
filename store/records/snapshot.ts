import { type Static, Type } from 'typebox';
import { Id, Sha256, Time } from './fields.ts';

/** The front matter of a snapshot of the global memory; the files themselves are in its body. */
export const SnapshotMatter = Type.Object({
  id: Id,
  created_at: Time,
  files: Type.Integer({ minimum: 0, description: 'The number of files in the body' }),
});
export type SnapshotMatter = Static<typeof SnapshotMatter>;

export const SnapshotEntry = Type.Object(
  {
    ...SnapshotMatter.properties,
    path: Type.String({ description: 'The file of the snapshot, relative to the workspace' }),
    size: Type.Integer({ description: 'The size of that file, in bytes' }),
  },
  { $id: 'MemorySnapshotEntry' },
);
export type SnapshotEntry = Static<typeof SnapshotEntry>;

const SnapshotFile = Type.Object({
  filename: Type.String(),
  content: Type.String(),
  encoding: Type.Optional(
    Type.Literal('base64', {
      description: 'The encoding of `content`, if the file is not UTF-8 text',
    }),
  ),
  sha256: Sha256,
});

/** The files of the global memory at that time, byte for byte. */
export const Snapshot = Type.Object(
  { id: Id, created_at: Time, files: Type.Array(SnapshotFile) },
  { $id: 'MemorySnapshot' },
);
export type Snapshot = Static<typeof Snapshot>;
