import { etagOf } from '../../../store/base/names.ts';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import { readTreeFile, type TreeFile } from '../../../store/fs/worktree/read.ts';
import { createTreeFile } from '../../../store/fs/worktree/write.ts';
import type { EditorFile } from '../../../store/records/editor.ts';
import { readyToWrite, type Store } from '../../../store/store.ts';
import { ServiceError } from '../../errors.ts';
import { requireTrustedProject } from '../../guard/trust/require.ts';
import { type ProjectNeeds, projectRepository, repositoryFor } from '../projects/project.ts';
import { treeOf } from '../worktrees/read.ts';
import { contentBytes, readEditorFile, type Sent } from './content.ts';
import { createdBefore, type ServedFile } from './files.ts';

/** Creates a file in the project's own checkout if `content` is given, else reads one. 409 if the new file exists. */
export const projectFile = async (
  service: ProjectNeeds,
  project: string,
  { path, content, encoding }: Partial<Sent> & { path: string },
): Promise<ServedFile<EditorFile> & { made: boolean }> => {
  const bytes =
    content === undefined ? undefined : contentBytes({ content, ...(encoding && { encoding }) });
  const tree = await treeOfProject(service, project);
  const file = await (bytes === undefined
    ? read(tree, path)
    : create(service.store, tree, { path, bytes }));
  return { file: readEditorFile(file), etag: etagOf(file.sha256), made: bytes !== undefined };
};

/** The files of a project's own checkout. 404 `not_found`, 422 `no_repository`. */
export const treeOfProject = async (service: ProjectNeeds, project: string): Promise<Tree> => {
  requireTrustedProject(service, project);
  if (project !== 'default' && projectRepository(service, project) === undefined)
    throw new ServiceError(
      'not_found',
      `There is no project ${project}. GET /settings lists the projects.`,
    );
  const repository = await repositoryFor(service, project);
  if (!repository.bare) return treeOf(service.store, { ...repository, path: repository.root });
  throw new ServiceError(
    'no_repository',
    `The repository of the project ${project} is bare and has no files. Use the worktree of a Work item.`,
  );
};

const read = async (tree: Tree, path: string): Promise<TreeFile> => {
  const file = await readTreeFile(tree, path);
  if (file !== undefined) return file;
  const message = `${path} does not exist in the checkout of the project. POST /projects/:id/files with content creates it.`;
  throw new ServiceError('not_found', message);
};

const create = async (
  store: Store,
  tree: Tree,
  { path, bytes }: { path: string; bytes: Buffer },
): Promise<TreeFile> => {
  await readyToWrite(store);
  const made = await createTreeFile(tree, path, bytes);
  return made ?? createdBefore(tree, path, bytes);
};
