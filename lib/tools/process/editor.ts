import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  // Ctrl-C is for the editor.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, path], {
    env: source,
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  process.off('SIGINT', ignore);
  return code === 0 ? undefined : `The editor (${editor}) ended with ${code ?? 'a signal'}.`;
};
