import { type Command, inGroup } from './args/command.ts';
import { AS_JSON, SERVING, STATE_DIR } from './args/options.ts';
import { SESSIONS } from './commands-sessions.ts';
import { PLANS, WORK } from './commands-work.ts';
import { closeInheritedDescriptors } from './process.ts';

const DAEMON = inGroup('Daemon', [
  {
    name: 'up',
    usesFiles: true,
    words: '',
    summary:
      'Find the daemon, or start one in the background, and add the repository of this directory',
    options: {
      repo: 'A git repository other than the one of this directory (DOSSIER_REPO)',
      'no-open': 'Do not open a browser',
      ...SERVING,
      json: AS_JSON,
    },
    open: async () => (await import('./up.ts')).up,
  },
  {
    name: 'serve',
    usesFiles: true,
    words: '',
    summary: 'Run the daemon in this terminal until Ctrl-C',
    options: {
      repo: 'The git repository of the project default (DOSSIER_REPO)',
      ...SERVING,
    },
    open: async () => {
      // First: Node 24 reads NODE_EXTRA_CA_CERTS in a thread once its tls is loaded, from a file that looks inherited.
      closeInheritedDescriptors();
      return (await import('./serve.ts')).serve;
    },
  },
  {
    name: 'service',
    usesFiles: true,
    words: 'install|status|uninstall',
    summary: 'Run the daemon as a service of this user (systemd; for launchd the file is printed)',
    options: {
      repo: 'An option of dossier serve, written to the unit (DOSSIER_REPO)',
      host: 'As above (DOSSIER_HOST)',
      port: 'As above (DOSSIER_PORT)',
      socket: 'As above (DOSSIER_SOCKET)',
      'state-dir': 'As above (DOSSIER_STATE_DIR)',
      json: AS_JSON,
    },
    open: async () => (await import('./service.ts')).service,
  },
  {
    name: 'open',
    words: '[ITEM]',
    summary:
      'Open the page of a Work item, or the inbox, in a browser; without a display, print its address',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/open.ts')).open,
  },
  {
    name: 'status',
    words: '',
    summary: 'Show the daemon of the workspace, and how many things need you',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/status.ts')).status,
  },
  {
    name: 'stop',
    words: '',
    summary: 'Stop the daemon of the workspace',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/stop.ts')).stop,
  },
  {
    name: 'logs',
    words: '',
    summary: 'Show the log of the daemon that runs in the background',
    options: {
      lines: 'Start with the last N lines (default: 100)',
      follow: 'Then show new lines until Ctrl-C',
      json: 'Print each entry as a line of JSON',
    },
    open: async () => (await import('./logs.ts')).logs,
  },
]);

const WORKSPACE = inGroup('Workspace', [
  {
    name: 'init',
    usesFiles: true,
    words: '',
    summary: 'Create a workspace with a settings file, a .gitignore and a git repository',
    options: { json: AS_JSON },
    open: async () => (await import('./init.ts')).init,
  },
  {
    name: 'trust',
    usesFiles: true,
    words: '',
    summary: 'Show settings and approvals that are not confirmed on this machine, and confirm them',
    options: {
      'state-dir': STATE_DIR,
      list: 'List them without asking',
      all: 'Trust everything that is shown without asking; approves no plan',
      trusted: 'List the settings and webhooks that you have trusted',
      revoke: 'Revoke the trust in the setting or webhook with this key',
      json: `${AS_JSON}; with --list, --all, --trusted or --revoke`,
    },
    open: async () => (await import('./trust.ts')).trustCommand,
  },
  {
    name: 'key',
    usesFiles: true,
    words: '[NAME]',
    summary: 'Create an API key with this name, and show it once',
    options: {
      'state-dir': STATE_DIR,
      list: 'List the keys',
      revoke: 'Revoke the key with this id',
      json: AS_JSON,
    },
    open: async () => (await import('./key.ts')).key,
  },
  {
    name: 'doctor',
    words: '',
    summary: 'Check the system and the workspace, and say what to install',
    options: {
      repo: 'The git repository of the project default (DOSSIER_REPO)',
      'state-dir': STATE_DIR,
      trust: 'Check the settings as if all of them were trusted (DOSSIER_TRUST=1)',
      json: AS_JSON,
    },
    open: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'check',
    usesFiles: true,
    words: '',
    summary: 'Check every file of the workspace, and report each problem with its place',
    options: {
      repo: 'The git repository of the project default (DOSSIER_REPO)',
      'state-dir': STATE_DIR,
      fix: 'Fix problems that can be fixed without losing data, while no daemon runs',
      json: AS_JSON,
    },
    open: async () => (await import('./check.ts')).check,
  },
  {
    name: 'export',
    words: '[ITEM]',
    summary: 'Export the workspace, or one Work item, as a zip archive',
    options: {
      file: 'The file to write (default: dossier-NAME-DATE.zip in this directory)',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/export.ts')).exportTo,
  },
  {
    name: 'import',
    usesFiles: true,
    words: 'PATH',
    summary:
      'Import an export (FILE.zip, or the directory it was unpacked to), or the tasks of another tool',
    options: {
      'state-dir': STATE_DIR,
      'dry-run': 'Show what would be imported, and write nothing',
      'keep-existing': 'Keep existing files that differ, and import the rest',
      json: AS_JSON,
    },
    open: async () => (await import('./import.ts')).importCommand,
  },
]);

const HELP = inGroup('Help', [
  {
    name: 'help',
    words: '[TOPIC]',
    summary: 'Show this help, the help of a command, or a guide',
    options: {},
    open: async () => (await import('./help.ts')).help,
  },
  {
    name: 'completion',
    words: 'bash|zsh|fish',
    summary: 'Print the completion script for bash, zsh or fish',
    options: {},
    open: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'version',
    words: '',
    summary: 'Show the version',
    options: { json: AS_JSON },
    open: async () => (await import('./version.ts')).version,
  },
]);

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...WORK,
  ...PLANS,
  ...SESSIONS,
  ...DAEMON,
  ...WORKSPACE,
  ...HELP,
];
