import { StoreError } from '../../base/errors.ts';

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/**
 * Splits a path, relative to the top of a tree, into names. Throws `unsafe_path` if the path could lead out of the tree or
 * into a git directory on any file system, or is not portable.
 */
export const pathNames = (path: string): string[] => {
  const names = path.split('/');
  const wrong = wrongAsAWhole(path) ?? names.map(wrongName).find((each) => each !== undefined);
  if (wrong === undefined) return names;
  throw new StoreError('unsafe_path', `The path ${JSON.stringify(path.slice(0, 200))} ${wrong}`);
};

/** Like `pathNames`, with the empty path for the top. */
export const namesOfFolder = (path: string): string[] => (path === '' ? [] : pathNames(path));

/** Whether the API accepts this as a name in a path. */
export const isPlainName = (name: string): boolean =>
  wrongAsAWhole(name) === undefined && wrongName(name) === undefined;

const wrongAsAWhole = (path: string): string | undefined => {
  if (path === '') return 'is empty. Name a file, from the top of the tree: src/main.ts';
  if (path.startsWith('/')) return 'is absolute. Write it from the top of the tree: src/main.ts';
  if (Buffer.byteLength(path) > LONGEST_PATH)
    return `is longer than ${LONGEST_PATH} bytes. Use a shorter one`;
  if (/[\p{Cc}\p{Cs}]/u.test(path))
    return 'contains a control character or a lone surrogate. Use a name without it';
  return path.includes('\\') ? 'contains a backslash. Separate names with /' : undefined;
};

const wrongName = (name: string): string | undefined => {
  if (name === '') return 'contains an empty name. Remove the extra /';
  if (name === '.' || name === '..') return `contains "${name}". Write the path without it`;
  if (Buffer.byteLength(name) > LONGEST_NAME)
    return `contains a name longer than ${LONGEST_NAME} bytes. Use a shorter one`;
  return isGitName(name)
    ? 'leads into .git, where nothing is served or written. Name a file outside of it'
    : undefined;
};

/**
 * Whether any file system reads this name as `.git`: in another case, with invisible characters, in a compatibility form,
 * as an NTFS short name or stream, or with dots or blanks at its end.
 */
export const isGitName = (name: string): boolean => {
  const folded = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return folded === '.git' || /^git~\d+$/.test(folded);
};

/** Throws `unsafe_path` for a new name that is not in NFC, which macOS would change. */
export const assertNewName = (name: string): void => {
  if (name === name.normalize('NFC')) return;
  const message = `The name ${JSON.stringify(name)} is not in Unicode form NFC, so it would differ on other machines. Send it in NFC`;
  throw new StoreError('unsafe_path', message);
};
