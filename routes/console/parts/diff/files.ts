import { type FilePatch, filesOf } from '../../../../lib/text/patch.ts';

/** The files of a patch, those first that the approved plan does not name. */
export const listFiles = (patch: string, plan: string | undefined): ListedFile[] =>
  sorted(
    filesOf(patch).map(({ path, from, kind, added, removed }) => ({
      path,
      kind,
      added,
      removed,
      isNamed: plan === undefined ? undefined : isNamed(plan, path) || isNamed(plan, from ?? path),
    })),
  );

const sorted = (files: readonly ListedFile[]): ListedFile[] => [
  ...files.filter((file) => file.isNamed !== true),
  ...files.filter((file) => file.isNamed === true),
];

/** The same files with their patches, in the order of the list. */
export const inOrder = (
  patch: string,
  listed: readonly ListedFile[],
): (FilePatch & { listed: ListedFile })[] => {
  const known = new Map(filesOf(patch).map((file) => [file.path, file]));
  return listed.flatMap((one) => {
    const file = known.get(one.path);
    return file === undefined ? [] : [{ ...file, listed: one }];
  });
};

/** The rule of `isNamed`, for the operator. */
export const NAMED_RULE =
  'The approved plan names a file if it has its path or its file name as a word.';

// Characters that continue a path's word; a dot at the end of a sentence does not.
const WORD_CONTINUES = '[\\p{L}\\p{N}_/\\\\-]|\\.[\\p{L}\\p{N}_]';

/** Whether a plan names a file, by its path or by its file name, as a word. */
export const isNamed = (plan: string, path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return appearsIn(plan, path, `${WORD_START}(?:\\./)?`) || appearsIn(plan, name, WORD_START);
};

// Below another directory it is another file.
const WORD_START = '(?<![\\p{L}\\p{N}_/\\\\.-])';

const appearsIn = (plan: string, text: string, before: string): boolean =>
  text !== '' &&
  plan.includes(text) &&
  new RegExp(`${before}${escapeRegExp(text)}(?!${WORD_CONTINUES})`, 'u').test(plan);

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** A file in the list of a diff. */
export interface ListedFile {
  path: string;
  kind: string;
  added: number;
  removed: number;
  /** Whether the approved plan names it; undefined without an approved plan. */
  isNamed: boolean | undefined;
}

/** A row of the tree. */
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

/** The tree of files, those first that the plan does not name. Contents of closed directories are left out. */
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

// Directories that contain only a directory are shown in one row.
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
