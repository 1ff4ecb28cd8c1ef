/** A file of a diff, as it stands in the list. */
export interface ListedFile {
  path: string;
  kind: string;
  added: number;
  removed: number;
  /** The approved plan names it; undefined where no plan was approved. */
  isNamed: boolean | undefined;
}

/** A row of the tree of files. */
export type TreeRow =
  | { kind: 'group'; key: string; name: string; count: number }
  | { kind: 'folder'; key: string; name: string; depth: number; count: number; isOpen: boolean }
  | { kind: 'file'; key: string; name: string; depth: number; at: number };

interface Folder {
  folders: Map<string, Folder>;
  files: { name: string; at: number }[];
  count: number;
}

export const GROUPS = [
  { name: 'Not in the plan', isNamed: false },
  { name: 'In the plan', isNamed: true },
  { name: 'Files', isNamed: undefined },
] as const;

/** The files of a diff in their folders, those first that the plan does not name. What a folded folder has is left out. */
export const treeOf = (
  files: readonly ListedFile[],
  only: (at: number) => boolean,
  folded: ReadonlySet<string>,
): TreeRow[] =>
  GROUPS.flatMap(({ name, isNamed }) => {
    const top = emptyFolder();
    for (const [at, file] of files.entries())
      if (file.isNamed === isNamed && only(at)) put(top, file.path.split('/'), at);
    if (top.count === 0) return [];
    const rows: TreeRow[] = [{ kind: 'group', key: name, name, count: top.count }];
    addRows(rows, top, { path: `${name}/`, depth: 0, folded });
    return rows;
  });

const emptyFolder = (): Folder => ({ folders: new Map(), files: [], count: 0 });

const put = (top: Folder, names: readonly string[], at: number): void => {
  let folder = top;
  folder.count += 1;
  for (const name of names.slice(0, -1)) {
    const next = folder.folders.get(name) ?? emptyFolder();
    folder.folders.set(name, next);
    next.count += 1;
    folder = next;
  }
  folder.files.push({ name: names.at(-1) ?? '', at });
};

interface Where {
  path: string;
  depth: number;
  folded: ReadonlySet<string>;
}

const addRows = (rows: TreeRow[], { folders, files }: Folder, where: Where): void => {
  const { path, depth, folded } = where;
  for (const [first, under] of folders) {
    const { name, folder } = alone(first, under);
    const key = `${path}${name}/`;
    const isOpen = !folded.has(key);
    rows.push({ kind: 'folder', key, name: `${name}/`, depth, count: folder.count, isOpen });
    if (isOpen) addRows(rows, folder, { path: key, depth: depth + 1, folded });
  }
  for (const { name, at } of files)
    rows.push({ kind: 'file', key: `${path}${at}`, name, depth, at });
};

// Folders with nothing but one folder in them are one row.
const alone = (first: string, under: Folder): { name: string; folder: Folder } => {
  const names = [first];
  let folder = under;
  while (folder.files.length === 0 && folder.folders.size === 1) {
    const [[name, next] = ['', emptyFolder()]] = folder.folders;
    names.push(name);
    folder = next;
  }
  return { name: names.join('/'), folder };
};
