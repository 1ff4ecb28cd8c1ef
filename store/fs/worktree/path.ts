import { StoreError } from '../../base/errors.ts';

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/**
 * The names on the way from the top of a tree to a file in it. Throws `unsafe_path` for a path that could lead out of the
 * tree or into a git directory, on whatever file system, and for one that no program writes the same way.
 */
export const pathNames = (path: string): string[] => {
  const names = path.split('/');
  const wrong = wrongAsAWhole(path) ?? names.map(wrongName).find((each) => each !== undefined);
  if (wrong === undefined) return names;
  throw new StoreError('unsafe_path', `The path ${JSON.stringify(path.slice(0, 200))} ${wrong}`);
};

/** The same where the top itself may be meant, by an empty path. */
export const namesOfFolder = (path: string): string[] => (path === '' ? [] : pathNames(path));

/** Whether the API takes this as a name in a path. */
export const isPlainName = (name: string): boolean =>
  wrongAsAWhole(name) === undefined && wrongName(name) === undefined;

const wrongAsAWhole = (path: string): string | undefined => {
  if (path === '') return 'is empty. Name a file, from the top of the tree: src/main.ts';
  if (path.startsWith('/')) return 'is absolute. Write it from the top of the tree: src/main.ts';
  if (Buffer.byteLength(path) > LONGEST_PATH) return `is longer than ${LONGEST_PATH} bytes`;
  if (/[\p{Cc}\p{Cs}]/u.test(path)) return 'holds a character that no name should have';
  return path.includes('\\') ? 'holds a backslash. Separate names with /' : undefined;
};

const wrongName = (name: string): string | undefined => {
  if (name === '') return 'has a / too many';
  if (name === '.' || name === '..') return `goes by way of "${name}". Write it out without`;
  if (Buffer.byteLength(name) > LONGEST_NAME)
    return `holds a name that is longer than ${LONGEST_NAME} bytes`;
  return isGitName(name) ? 'leads into .git, where nothing is served or written' : undefined;
};

/**
 * Whether some file system takes this name for `.git`: in other letters, with characters that are not seen, in a
 * compatible form, short (NTFS), with dots or blanks at its end, or a stream of it.
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

/** Throws `unsafe_path` for a new name that another file system would change: macOS writes é in its own way. */
export const assertNewName = (name: string): void => {
  if (name === name.normalize('NFC')) return;
  const message = `The name ${JSON.stringify(name)} is not in Unicode form NFC, and would be another name on other machines. Send it in NFC`;
  throw new StoreError('unsafe_path', message);
};
