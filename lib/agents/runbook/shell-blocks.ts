import { readFences } from '../../text/markdown/fences.ts';

export interface ShellBlock {
  /** What reads it: a block marked `bash` needs bash, one marked `sh` or `shell` must not depend on it. */
  shell: 'sh' | 'bash';
  script: string;
  /** The heading or the line of text just before the block. */
  lead: string;
}

const SHELLS = new Map<string, ShellBlock['shell']>([
  ['sh', 'sh'],
  ['shell', 'sh'],
  ['bash', 'bash'],
]);

/** The shell blocks that a Markdown reader shows in the text, in order; blocks with no command in them are left out. */
export const shellBlocks = (markdown: string): ShellBlock[] =>
  readFences(markdown).flatMap(({ info, content, lead }) => {
    const shell = SHELLS.get(languageOf(info));
    return shell === undefined || content.trim() === '' ? [] : [{ shell, script: content, lead }];
  });

/** The first line of a script that says something: what an operator knows it by. */
export const firstLine = (script: string): string =>
  script
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '') ?? '';

const languageOf = (info: string): string => info.split(/[ \t]/, 1)[0]?.toLowerCase() ?? '';
