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
  help      Show this

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

/** The same for one command: what it does, and the options that it takes. All of it where there is no such command. */
export const helpFor = (command: string | undefined): string => {
  const lines = HELP.split('\n');
  const own = lines.find((line) => line.startsWith(`  ${command} `));
  if (command === undefined || own === undefined) return HELP;
  const options = lines.filter((line) => /^ {2}-/.test(line) && takes(command, line));
  return [
    ...[`Usage: dossier ${command}${WORDS[command] ?? ''} [options]`, '', own, '', 'Options:'],
    ...[...options, ''],
  ].join('\n');
};

const WORDS: Readonly<Record<string, string>> = { key: ' [NAME]', import: ' PATH' };

// An option names the commands that it belongs to; else it is all of the daemon's, and where the workspace is, everybody's.
const takes = (command: string, line: string): boolean => {
  const owners = [...line.matchAll(/(?: {2}|; )(?!default)(\w+): /g)].map(([, owner]) => owner);
  if (owners.length > 0) return owners.includes(command);
  return command === 'serve' || /--(?:workspace|help)/.test(line);
};
