import type { Guide } from '../../store/records/guide.ts';
import { UsageError } from '../config.ts';
import { guideFor, readGuides } from '../daemon/guides.ts';
import { showByPager } from '../tools/process/terminal.ts';
import { type Call, type Command, GROUPS } from './args/command.ts';
import { type OptionName, writtenAs } from './args/options.ts';

const COMMON: Readonly<Partial<Record<OptionName, string>>> = {
  workspace: 'Where the Work items are kept (DOSSIER_WORKSPACE; default: ~/dossier)',
  help: 'Show this; behind a command: what that takes',
};

const FOOT = `Flags win over the environment. What can be changed while the daemon runs is in workspace.md, in the workspace.
DOSSIER_KEY in the environment is the API key for a daemon that asks for one (require_key).
The exit code is 0 when it is done, 1 when it is refused or fails, 2 when it was called wrongly, and 3
when it needs a daemon and none runs. 4: something needs you; 5: the time of wait is up; 130: it was left.
`;

/** What the program is told about as a whole. */
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

/** What one command does, and the options that it takes. */
export const usageOf = ({ name, words, summary, options }: Command, topic?: string): string =>
  [
    `Usage: ${['dossier', name, words, '[options]'].filter(Boolean).join(' ')}\n\n`,
    `${summary}\n\n`,
    `Options:\n${optionLines({ ...options, ...COMMON })}`,
    topic === undefined ? '' : `\nMore: dossier help ${topic}\n`,
  ].join('');

const optionLines = (options: Command['options']): string => {
  const all = (Object.entries(options) as [OptionName, string][]).map(
    ([name, about]) => [writtenAs(name), about] as const,
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
 * `dossier help [COMMAND or TOPIC]`, or `dossier COMMAND --help`. Of a guide and a command of one name the guide is shown, unless the
 * command was asked. Throws UsageError where there is neither.
 */
export const help = async ({ words, values, config: { env }, commands }: Call): Promise<number> => {
  const guides = readGuides();
  const [word] = words;
  if (word === undefined) return say(overview(commands, guides));
  const command = commands.find(({ name }) => name === word);
  const guide = guideFor(guides, word);
  const isGuide = guide?.topic === word && values.help !== true;
  if (command !== undefined && !isGuide) return say(usageOf(command, guide?.topic));
  if (guide === undefined) {
    const topics = guides.map(({ topic }) => topic).join(', ');
    throw new UsageError(`There is no command and no topic ${word}; topics are ${topics}`);
  }
  if (process.stdout.isTTY !== true) return say(guide.text);
  const shown = isPlain(env) ? guide.text : withBoldHeadings(guide.text);
  return (await showByPager(shown, env)) ? 0 : say(shown);
};

const say = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

// What https://no-color.org asks for, and a terminal that knows no escapes.
const isPlain = ({ TERM, NO_COLOR }: NodeJS.ProcessEnv): boolean =>
  TERM === 'dumb' || (NO_COLOR ?? '') !== '';

// Not the comments of a shell script in a block.
const withBoldHeadings = (text: string): string =>
  text
    .split(/^(```.*\n[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith('```') ? part : part.replace(/^#+ .*$/gm, '\u001b[1m$&\u001b[0m'),
    )
    .join('');
