import { type Static, Type } from 'typebox';
import { Sha256, Time } from './id.ts';
import { orNull } from './or-null.ts';

const Path = Type.String({ description: 'From the top of the worktree, with /' });

const written = {
  path: Path,
  size: Type.Integer({ minimum: 0, description: 'In bytes' }),
  sha256: Sha256,
  binary: Type.Boolean({ description: 'It holds a NUL, or is not UTF-8' }),
};

export const WrittenFile = Type.Object(written, { $id: 'WrittenFile' });
export type WrittenFile = Static<typeof WrittenFile>;

export const Encoding = Type.Enum(['utf-8', 'base64']);

export const EditorFile = Type.Object(
  {
    ...written,
    encoding: Encoding,
    content: Type.String({
      description: 'Byte for byte, line ends and BOM too; of a binary file in base64',
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
        'link: symbolic, and not followed. other: a device, a pipe, or a name that no path here may hold',
    }),
    size: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
      description: 'In bytes; null of what is no file',
    }),
    modified_at: Time,
    ignored: orNull(Type.Boolean(), 'By git; null where git cannot say, as in a submodule'),
  },
  { $id: 'EditorEntry' },
);
export type EditorEntry = Static<typeof EditorEntry>;
