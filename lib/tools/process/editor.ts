import { runAtTerminal } from './at-terminal.ts';
import { findProgram } from './find-program.ts';

/**
 * Opens a file in the operator's editor ($VISUAL, $EDITOR, else vi), as git does, until it is left. Answers why nothing
 * was edited.
 */
export const editFile = async (
  path: string,
  source: NodeJS.ProcessEnv,
): Promise<string | undefined> => {
  const editor = source.VISUAL || source.EDITOR || findProgram('vi', { PATH: source.PATH ?? '' });
  if (editor === undefined) return 'There is no editor: name one in EDITOR.';
  const code = await runAtTerminal('/bin/sh', ['-c', `${editor} "$@"`, editor, path], source);
  return code === 0 ? undefined : `The editor (${editor}) ended with ${code ?? 'a signal'}.`;
};
