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

/** What to tell the operator of an error that they can do something about; undefined where nobody foresaw it. */
export const sentenceOf = (
  error: unknown,
  { workspace }: Partial<Config> = {},
): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (SENTENCES.includes(error.name))
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  if ((error as NodeJS.ErrnoException).syscall === 'uv_cwd')
    return 'The current directory is gone. Go to another, and run this again.';
  const words = fileRefusal(error);
  // A write to an open file says not which.
  const { path = workspace } = error as NodeJS.ErrnoException;
  return words === undefined || path === undefined
    ? undefined
    : `${path} ${words}. Mend that, and run this again.`;
};
