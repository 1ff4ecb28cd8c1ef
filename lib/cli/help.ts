import type { Guide } from '../../store/records/guide.ts';
import { UsageError } from '../config.ts';
import { guideFor, readGuides } from '../daemon/guides.ts';
import { showByPager } from '../tools/process/pager.ts';

export const HELP = `dossier: a local daemon that turns AI coding work into cases with evidence

Usage: dossier [command] [options]

Commands:
  serve     Run the daemon (the default)
  init      Make a workspace: its settings file, its .gitignore, its git repository
  trust     Show what stands in the workspace's files and does not hold on this machine yet, and ask
  key       Make an API key, of this name if one is given, and show it once
  doctor    Say what is there, what is missing, and what to install
  check     Read every file of the workspace and say what is wrong, and where
  import    Bring in an export, FILE.zip or where it was unpacked, or the tasks of a Backlog.md project
  help      Show this; help COMMAND or help TOPIC: that
  version   Show the version

Options:
  --workspace DIR     Where the Work items are kept (DOSSIER_WORKSPACE; default: ~/dossier)
  --repo DIR          The git repository that is worked on (DOSSIER_REPO)
  --host ADDRESS      A loopback address to listen on (DOSSIER_HOST; default: 127.0.0.1)
  --port N            0 takes any free one (DOSSIER_PORT; default: 4870)
  --dev               Also serve the provider endpoints (DOSSIER_DEV=1)
  --trust             serve: what stands in the workspace's files holds as it stands, now and later (DOSSIER_TRUST=1)
  --log-level LEVEL   trace, debug, info, warn, error, fatal or silent (DOSSIER_LOG_LEVEL; default: info)
  --list              trust: show what waits, and ask nothing; key: list the keys
  --revoke ID         key: revoke one
  --all               trust: say yes to all that is shown, where nobody can be asked
  --fix               check: mend what can be mended without a loss, while no daemon runs
  --json              check: say it for programs
  --dry-run           import: say what would be done, and write nothing
  --keep-existing     import: leave what is here with other content as it is, and bring in the rest
  -h, --help          Show this
  -v, --version       Show the version

Flags win over the environment. What can be changed while the daemon runs is in workspace.md, in the workspace.
DOSSIER_KEY in the environment is the API key that trust shows a daemon which asks for one (require_key).
The daemon says where it listens on standard output, in one line, when it is ready; its log goes to standard error.
`;

/** `dossier help [COMMAND or TOPIC]`. Throws UsageError where there is neither. */
export const help = async (word: string | undefined, env: NodeJS.ProcessEnv): Promise<number> => {
  const guides = readGuides();
  const text = word === undefined ? `${HELP}${topicsOf(guides)}` : helpFor(word, guides);
  if (text !== undefined) return say(text);
  const guide = guideFor(guides, word ?? '');
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

const topicsOf = (guides: readonly Guide[]): string => {
  const width = Math.max(...guides.map(({ topic }) => topic.length)) + 2;
  const lines = guides.map(({ topic, summary }) => `  ${topic.padEnd(width)}${summary}\n`);
  return lines.length === 0 ? '' : `\nTopics:\n${lines.join('')}`;
};

/** What one command does, and the options that it takes. */
const helpFor = (command: string, guides: readonly Guide[]): string | undefined => {
  const lines = HELP.split('\n');
  const own = lines.find((line) => line.startsWith(`  ${command} `));
  if (own === undefined) return undefined;
  const options = lines.filter((line) => /^ {2}-/.test(line) && takes(command, line));
  const topic = guideFor(guides, command)?.topic;
  return [
    ...[`Usage: dossier ${command}${WORDS[command] ?? ''} [options]`, '', own, '', 'Options:'],
    ...[...options, ...(topic === undefined ? [] : ['', `More: dossier help ${topic}`]), ''],
  ].join('\n');
};

const WORDS: Readonly<Record<string, string>> = { key: ' [NAME]', import: ' PATH' };

// An option names the commands that it belongs to; else it is all of the daemon's, and where the workspace is, everybody's.
const takes = (command: string, line: string): boolean => {
  const owners = [...line.matchAll(/(?: {2}|; )(?!default)(\w+): /g)].map(([, owner]) => owner);
  if (owners.length > 0) return owners.includes(command);
  return command === 'serve' || /--(?:workspace|help)/.test(line);
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
