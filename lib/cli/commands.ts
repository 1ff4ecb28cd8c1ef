import type { Command } from './args/command.ts';
import { AS_JSON } from './args/options.ts';
import { SESSIONS } from './commands-sessions.ts';
import { WORK } from './commands-work.ts';

const STATE_DIR =
  'Where what you trust and approve is kept (DOSSIER_STATE_DIR; default: $XDG_STATE_HOME/dossier, or ~/.local/state/dossier)';

/** How a daemon is started. */
const SERVING = {
  host: 'A loopback address to listen on (DOSSIER_HOST; default: 127.0.0.1)',
  port: '0 takes any free one (DOSSIER_PORT; default: 4870, or the next that is free)',
  socket:
    'Another socket than the default one, alone in a directory below /run or /tmp; none for no socket (DOSSIER_SOCKET)',
  'state-dir': STATE_DIR,
  dev: 'Also serve the provider endpoints (DOSSIER_DEV=1)',
  trust: 'Trust settings and webhooks in the files, now and as they change (DOSSIER_TRUST=1)',
  'log-level':
    'trace, debug, info, warn, error, fatal or silent (DOSSIER_LOG_LEVEL; default: info)',
};

/** Everything that dossier can be told to do, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  ...WORK,
  ...SESSIONS,
  {
    name: 'up',
    group: 'Daemon',
    usesFiles: true,
    words: '',
    summary: 'Find the daemon or begin one in the background, for the repository of this directory',
    options: {
      repo: 'The git repository that is meant, instead of the one of this directory (DOSSIER_REPO)',
      'no-open': 'Open no browser; it opens one at a terminal with a display',
      ...SERVING,
      json: AS_JSON,
    },
    open: async () => (await import('./up.ts')).up,
  },
  {
    name: 'serve',
    group: 'Daemon',
    usesFiles: true,
    words: '',
    summary: 'Run the daemon in this terminal, until Ctrl-C',
    options: {
      repo: 'The git repository that is worked on (DOSSIER_REPO)',
      ...SERVING,
    },
    open: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'service',
    group: 'Daemon',
    usesFiles: true,
    words: 'install|status|uninstall',
    summary: 'Make the daemon a service of this user (systemd; for launchd its file is printed)',
    options: {
      repo: 'As dossier serve takes it, and written down (DOSSIER_REPO)',
      host: 'The same (DOSSIER_HOST)',
      port: 'The same (DOSSIER_PORT)',
      socket: 'The same (DOSSIER_SOCKET)',
      'state-dir': 'The same (DOSSIER_STATE_DIR)',
      json: AS_JSON,
    },
    open: async () => (await import('./service.ts')).service,
  },
  {
    name: 'open',
    group: 'Daemon',
    words: '[ITEM]',
    summary:
      'Show the page of a Work item, or the inbox, in a browser; without a display: its address',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/open.ts')).open,
  },
  {
    name: 'status',
    group: 'Daemon',
    words: '',
    summary: 'Say which daemon has the workspace, and how much waits for you',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/status.ts')).status,
  },
  {
    name: 'stop',
    group: 'Daemon',
    words: '',
    summary: 'End the daemon of the workspace',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/stop.ts')).stop,
  },
  {
    name: 'logs',
    group: 'Daemon',
    words: '',
    summary: 'Show what the daemon that runs in the background logged',
    options: {
      lines: 'Begin with the last N lines (default: 100)',
      follow: 'Then show new lines until Ctrl-C',
      json: 'Each entry in a line, as JSON',
    },
    open: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'init',
    group: 'Workspace',
    usesFiles: true,
    words: '',
    summary: 'Make a workspace: its settings file, its .gitignore, its git repository',
    options: { json: AS_JSON },
    open: async () => (await import('./init.ts')).init,
  },
  {
    name: 'trust',
    group: 'Workspace',
    usesFiles: true,
    words: '',
    summary: 'Show what you have not trusted or approved on this machine yet, and ask',
    options: {
      'state-dir': STATE_DIR,
      list: 'Show what waits, and ask nothing',
      all: 'Trust all that is shown, where nobody can be asked; approves no plan',
      trusted: 'List the settings and webhooks that you have trusted',
      revoke: 'Take the trust in the one with this key back: it waits again',
      json: `${AS_JSON}; with --list, --all or --trusted`,
    },
    open: async () => (await import('./trust.ts')).trustCommand,
  },
  {
    name: 'key',
    group: 'Workspace',
    usesFiles: true,
    words: '[NAME]',
    summary: 'Make an API key of this name, and show it once',
    options: {
      'state-dir': STATE_DIR,
      list: 'List the keys',
      revoke: 'Revoke the one with this id',
      json: AS_JSON,
    },
    open: async () => (await import('./key.ts')).key,
  },
  {
    name: 'doctor',
    group: 'Workspace',
    words: '',
    summary: 'Say what is there, what is missing, and what to install',
    options: {
      repo: 'The git repository that is worked on (DOSSIER_REPO)',
      'state-dir': STATE_DIR,
      trust: 'Look at the settings as if all of them were trusted (DOSSIER_TRUST=1)',
      json: AS_JSON,
    },
    open: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'check',
    group: 'Workspace',
    usesFiles: true,
    words: '',
    summary: 'Read every file of the workspace and say what is wrong, and where',
    options: {
      repo: 'The git repository that is worked on (DOSSIER_REPO)',
      'state-dir': STATE_DIR,
      fix: 'Mend what can be mended without a loss, while no daemon runs',
      json: AS_JSON,
    },
    open: async () => (await import('./check.ts')).check,
  },
  {
    name: 'export',
    group: 'Workspace',
    words: '[ITEM]',
    summary: 'Save the workspace, or one Work item, as a zip archive that import reads',
    options: {
      file: 'Where to (default: dossier-NAME-DATE.zip in this directory)',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/export.ts')).exportTo,
  },
  {
    name: 'import',
    group: 'Workspace',
    usesFiles: true,
    words: 'PATH',
    summary: 'Bring in an export, FILE.zip or where it was unpacked, or the tasks of another tool',
    options: {
      'state-dir': STATE_DIR,
      'dry-run': 'Say what would be done, and write nothing',
      'keep-existing': 'Leave what is here with other content as it is, and bring in the rest',
      json: AS_JSON,
    },
    open: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'help',
    group: 'Help',
    words: '[TOPIC]',
    summary: 'Show this, what a command takes, or a guide',
    options: {},
    open: async () => (await import('./help.ts')).help,
  },
  {
    name: 'completion',
    group: 'Help',
    words: 'bash|zsh|fish',
    summary: 'Print what makes bash, zsh or fish complete commands, options and ids of Work items',
    options: {},
    open: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'version',
    group: 'Help',
    words: '',
    summary: 'Show the version',
    options: { json: AS_JSON },
    open: async () => (await import('./version.ts')).version,
  },
];
