import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { pathContains } from '../../../store/base/paths.ts';
import { createFile, replaceFile } from '../../../store/fs/durable.ts';
import { layoutOf } from '../../../store/layout.ts';
import type { Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';

/** A file of the workspace, as it was read; without `before` there was none. */
export interface WorkspaceFile {
  path: string;
  before: Buffer | undefined;
}

/** Reads a file below a directory of the workspace, or what is not there yet. Throws a Refusal where it lies elsewhere. */
export const readWorkspaceFile = (directory: string, path: string): WorkspaceFile => {
  if (!pathContains(directory, path)) throw new Refusal(`${path} is not in ${directory}`);
  if (!existsSync(dirname(path)))
    throw new Refusal(`There is no directory ${dirname(path)}. Create it first`);
  return { path, before: orElse(() => readFileSync(path), undefined, 'ENOENT') };
};

/** Saves it, on disk, with the former text in `.dossier/undo/`. Throws a Refusal where the file changed since it was read. */
export const saveWorkspaceFile = async (
  { workspace }: Config,
  { path, before }: WorkspaceFile,
  text: string,
): Promise<void> => {
  const layout = layoutOf(workspace);
  const isSaved =
    before === undefined
      ? await createFile(layout, path, text)
      : await replaceFile(layout, path, before, text);
  if (!isSaved) throw new Refusal(`${basename(path)} was changed meanwhile, and is left as it is.`);
};
