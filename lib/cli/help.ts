import type { Guide } from '../../store/records/system.ts';
import { UsageError } from '../config.ts';
import { guideFor, readGuides } from '../daemon/guides.ts';
import { type Call, type Command, GROUPS } from './args/command.ts';
import { type OptionName, optionSyntax } from './args/options.ts';
import { createOutput, type Style } from './output/out.ts';

const COMMON: Readonly<Partial<Record<OptionName, string>>> = {
  workspace: 'The directory of the Work items (DOSSIER_WORKSPACE; default: ~/dossier)',
  help: 'Show this help, or the options of a command',
};

const FOOT = `Flags override the environment. Settings that can change while the daemon runs are in workspace.md of the workspace.
DOSSIER_KEY in the environment is the API key, for a daemon that requires one (require_key).
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no daemon is running, 4 something needs you,
5 the timeout of wait expired, 130 left with Ctrl-C or q.
`;

/** The help of the program. */
export const overview = (commands: readonly Command[], guides: readonly Guide[] = []): string => {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const listed = GROUPS.map((group) => {
    const own = commands.filter((command) => command.group === group);
    return `${group}:\n${own.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}\n`).join('')}\n`;
  });
  return [
    'dossier: a local daemon that turns AI coding work into cases with evidence\n\n',
    'Usage: dossier [command] [options]\n\n',
    ...listed,
    `Options:\n${optionLines({ ...COMMON, version: 'Show the version' })}\n`,
    FOOT,
    topicsOf(guides),
  ].join('');
};

/** The help of a command. */
export const commandHelp = ({ name, words, summary, options }: Command, topic?: string): string =>
  [
    `Usage: ${['dossier', name, words, '[options]'].filter(Boolean).join(' ')}\n\n`,
    `${summary}\n\n`,
    `Options:\n${optionLines({ ...options, ...COMMON })}`,
    topic === undefined ? '' : `\nMore: dossier help ${topic}\n`,
  ].join('');

const optionLines = (options: Command['options']): string => {
  const all = (Object.entries(options) as [OptionName, string][]).map(
    ([name, about]) => [optionSyntax(name), about] as const,
  );
  const width = Math.max(...all.map(([written]) => written.length)) + 2;
  return all.map(([written, about]) => `  ${written.padEnd(width)}${about}\n`).join('');
};

const topicsOf = (guides: readonly Guide[]): string => {
  const width = Math.max(...guides.map(({ topic }) => topic.length)) + 2;
  const lines = guides.map(({ topic, summary }) => `  ${topic.padEnd(width)}${summary}\n`);
  return lines.length === 0 ? '' : `\nTopics:\n${lines.join('')}`;
};

/**
 * `dossier help [COMMAND or TOPIC]`, or `dossier COMMAND --help`. If a guide and a command have the same name, `help` shows the
 * guide and `--help` the command. Throws UsageError if there is neither.
 */
export const help = async ({ words, values, config: { env }, commands }: Call): Promise<number> => {
  const guides = readGuides();
  const [word] = words;
  if (word === undefined) return say(overview(commands, guides));
  const command = commands.find(({ name }) => name === word);
  const guide = guideFor(guides, word);
  const isGuide = guide?.topic === word && values.help !== true;
  if (command !== undefined && !isGuide) return say(commandHelp(command, guide?.topic));
  if (guide === undefined) {
    const topics = guides.map(({ topic }) => topic).join(', ');
    throw new UsageError(`There is no command or topic ${word}. Topics: ${topics}`);
  }
  await createOutput(process.stdout, env).read(guide.text.trimEnd(), boldHeadings());
  return 0;
};

const say = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

// Leaves fenced blocks alone, where `#` begins a comment.
const boldHeadings = (): ((line: string) => Style | undefined) => {
  let isFenced = false;
  return (line) => {
    if (line.startsWith('```')) isFenced = !isFenced;
    return !isFenced && /^#+ /.test(line) ? 'bold' : undefined;
  };
};
