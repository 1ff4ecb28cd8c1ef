import { type Command, GROUPS } from './args/command.ts';
import { type OptionName, writtenAs } from './args/options.ts';

/** The page of the manual, for `man`: what the help says of each command. */
export const manual = (commands: readonly Command[], version: string): string =>
  [
    `.TH DOSSIER 1 "" "dossierd ${version}" "User Commands"`,
    '.SH NAME',
    'dossier \\- a local daemon that turns AI coding work into cases with evidence',
    '.SH SYNOPSIS',
    '.B dossier',
    '[command] [options]',
    '.SH DESCRIPTION',
    'Each command but those of the daemon and the workspace calls the daemon that holds the workspace.',
    ...GROUPS.flatMap((group) => [
      `.SH ${plain(group.toUpperCase())}`,
      ...commands.filter((command) => command.group === group).flatMap(linesOf),
    ]),
    '.SH ENVIRONMENT',
    ...termLines('DOSSIER_WORKSPACE', 'Where the Work items are kept; default: ~/dossier'),
    ...termLines('DOSSIER_KEY', 'The API key for a daemon that asks for one'),
    ...termLines('NO_COLOR', 'Show no colours'),
    '.SH EXIT STATUS',
    ...termLines('0', 'It is done'),
    ...termLines('1', 'It is refused or failed'),
    ...termLines('2', 'It was called wrongly'),
    ...termLines('3', 'It needs a daemon and none runs'),
    ...termLines('4', 'Something needs you'),
    ...termLines('5', 'The time of wait is up'),
    ...termLines('130', 'It was left with Ctrl-C or q, and nothing was changed'),
    '',
  ].join('\n');

const linesOf = ({ name, words, summary, options }: Command): string[] => [
  ...termLines(['dossier', name, words].filter(Boolean).join(' '), summary),
  ...(Object.keys(options).length === 0
    ? []
    : [
        '.RS',
        ...(Object.entries(options) as [OptionName, string][]).flatMap(([option, about]) =>
          termLines(writtenAs(option), about),
        ),
        '.RE',
      ]),
];

const termLines = (term: string, about: string): string[] => [
  '.TP',
  `.B ${plain(term)}`,
  plain(about),
];

// What troff would take for its own.
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('’', "'")
    .replace(/^(?=[.'])/gm, '\\&');
