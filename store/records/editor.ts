import { type Static, Type } from 'typebox';
import { orNull, Sha256, Time } from './fields.ts';

const Path = Type.String({ description: 'Relative to the top of the worktree, with /' });

const written = {
  path: Path,
  size: Type.Integer({ minimum: 0, description: 'In bytes' }),
  sha256: Sha256,
  binary: Type.Boolean({ description: 'Whether it contains NUL or is not UTF-8' }),
};

export const WrittenFile = Type.Object(written, { $id: 'WrittenFile' });
export type WrittenFile = Static<typeof WrittenFile>;

export const Encoding = Type.Enum(['utf-8', 'base64']);

export const EditorFile = Type.Object(
  {
    ...written,
    encoding: Encoding,
    content: Type.String({
      description: 'Byte for byte, with line ends and BOM; base64 for a binary file',
    }),
  },
  { $id: 'EditorFile' },
);
export type EditorFile = Static<typeof EditorFile>;

export const EditorEntry = Type.Object(
  {
    name: Type.String(),
    path: Path,
    kind: Type.Enum(['file', 'directory', 'link', 'other'], {
      description:
        'link: a symbolic link, which is not followed. other: a device, a pipe, or a name not allowed in a path',
    }),
    size: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
      description: 'In bytes; null unless it is a file',
    }),
    modified_at: Time,
    ignored: orNull(
      Type.Boolean(),
      'Whether git ignores it; null if git cannot tell, as in a submodule',
    ),
  },
  { $id: 'EditorEntry' },
);
export type EditorEntry = Static<typeof EditorEntry>;
