import { type Command, GROUPS } from './args/command.ts';
import { type OptionName, optionSyntax } from './args/options.ts';

/** The manual page, generated from the help of each command. */
export const manual = (commands: readonly Command[], version: string): string =>
  [
    `.TH DOSSIER 1 "" "dossierd ${version}" "User Commands"`,
    '.SH NAME',
    'dossier \\- a local daemon that turns AI coding work into cases with evidence',
    '.SH SYNOPSIS',
    '.B dossier',
    '[command] [options]',
    '.SH DESCRIPTION',
    'Commands for Work items, plans and sessions call the daemon of the workspace.',
    ...GROUPS.flatMap((group) => [
      `.SH ${plain(group.toUpperCase())}`,
      ...commands.filter((command) => command.group === group).flatMap(linesOf),
    ]),
    '.SH ENVIRONMENT',
    ...termLines('DOSSIER_WORKSPACE', 'The directory of the Work items; default: ~/dossier'),
    ...termLines('DOSSIER_KEY', 'The API key, for a daemon that requires one'),
    ...termLines('NO_COLOR', 'Disable colours'),
    '.SH EXIT STATUS',
    ...termLines('0', 'Done'),
    ...termLines('1', 'Refused or failed'),
    ...termLines('2', 'Wrong usage'),
    ...termLines('3', 'No daemon is running'),
    ...termLines('4', 'Something needs you'),
    ...termLines('5', 'The timeout of wait expired'),
    ...termLines('130', 'Left with Ctrl-C or q; nothing was changed'),
    '',
  ].join('\n');

const linesOf = ({ name, words, summary, options }: Command): string[] => [
  ...termLines(['dossier', name, words].filter(Boolean).join(' '), summary),
  ...(Object.keys(options).length === 0
    ? []
    : [
        '.RS',
        ...(Object.entries(options) as [OptionName, string][]).flatMap(([option, about]) =>
          termLines(optionSyntax(option), about),
        ),
        '.RE',
      ]),
];

const termLines = (term: string, about: string): string[] => [
  '.TP',
  `.B ${plain(term)}`,
  plain(about),
];

// Escapes the control characters of troff.
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('’', "'")
    .replace(/^(?=[.'])/gm, '\\&');
