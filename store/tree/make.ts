import { makeFolder, syncFolder, type Tree } from './folder.ts';
import { inParent } from './write.ts';

/** Makes a directory, with those on the way to it; false when something has that name. */
export const makeTreeFolder = async (tree: Tree, path: string): Promise<boolean> => {
  const made = await inParent(
    tree,
    path,
    async (folder, name) => {
      if (!makeFolder(folder, name)) return false;
      await syncFolder(folder);
      return true;
    },
    { make: true },
  );
  return made === true;
};
