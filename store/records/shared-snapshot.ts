import { type Static, Type } from 'typebox';
import { Time, textOf } from './fields.ts';
import { Directory } from './worktree.ts';

const FIELDS = {
  project: Type.String(),
  lockfile: Type.String({ description: 'The lockfile that it was installed from' }),
  lockfile_sha256: textOf('sha256'),
  command: Type.String({ description: 'The setup command that installed it' }),
  directories: Type.Array(Type.String(), { minItems: 1 }),
  bytes: Type.Integer({ minimum: 0, description: 'Its size when it was made' }),
  created_at: Time,
};

/** A snapshot of what a setup command installed, as stored beside it. */
export const SharedSnapshot = Type.Object({ ...FIELDS, repository: Directory });
export type SharedSnapshot = Static<typeof SharedSnapshot>;

/** The same as the API returns it. */
export const ListedSnapshot = Type.Object(
  { ...FIELDS, used_at: Time },
  { $id: 'SharedSnapshot', description: 'What a setup command installed, for later worktrees' },
);
export type ListedSnapshot = Static<typeof ListedSnapshot>;
