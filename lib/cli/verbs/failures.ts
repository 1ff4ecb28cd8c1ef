import type { SessionCommands } from '../../client/client.ts';
import type { Words } from '../output/out.ts';

/** The commands of a session that failed, in a sentence, and the end of what each wrote; nothing where none did. */
export const failuresIn = (commands: SessionCommands | undefined): readonly Words[] => {
  const { message = null, failed = [] } = commands ?? {};
  if (message === null) return [];
  const written = failed.filter(({ output }) => output !== '');
  return [
    { style: ['red', 'bold'], text: message },
    ...written.map(
      ({ command, output }): Words => ({
        style: 'dim',
        text: `  $ ${command}\n${indented(output)}`,
      }),
    ),
  ];
};

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');
