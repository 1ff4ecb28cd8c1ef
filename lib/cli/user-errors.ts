import { fileRefusal } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';

const SENTENCES = [
  'Refusal',
  'ServiceError',
  'StoreError',
  'WorkspaceHeldError',
  'FormatError',
  'StateDirError',
  'TrackedFilesError',
];

/** The message of an error that the operator can act on; undefined for an unexpected error. */
export const userMessage = (
  error: unknown,
  { workspace }: Partial<Config> = {},
): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (SENTENCES.includes(error.name))
    return ENDED.test(error.message) ? error.message : `${error.message}.`;
  if ((error as NodeJS.ErrnoException).syscall === 'uv_cwd')
    return 'The current directory no longer exists. Change to another one, and try again.';
  const words = fileRefusal(error);
  // An error of an open file has no path.
  const { path = workspace && `${workspace}, or the state directory,` } =
    error as NodeJS.ErrnoException;
  return words === undefined || path === undefined
    ? undefined
    : `${path} ${words}. Fix that, and try again.`;
};

// A command at the end is pasted as it is.
const ENDED = /[.!?]$|: (?:dossier|git|env -u) [^\n]*$/;
