/** All options with their types. Each command describes its own. */
export const OPTIONS = {
  workspace: { type: 'string', value: 'DIR' },
  repo: { type: 'string', value: 'DIR' },
  host: { type: 'string', value: 'ADDRESS' },
  port: { type: 'string', value: 'N' },
  socket: { type: 'string', value: 'PATH' },
  'state-dir': { type: 'string', value: 'DIR' },
  dev: { type: 'boolean' },
  trust: { type: 'boolean' },
  'log-level': { type: 'string', value: 'LEVEL' },
  'dry-run': { type: 'boolean' },
  'keep-existing': { type: 'boolean' },
  fix: { type: 'boolean' },
  json: { type: 'boolean' },
  'no-open': { type: 'boolean' },
  session: { type: 'string', value: 'ID' },
  hash: { type: 'string', value: 'HASH' },
  follow: { type: 'boolean' },
  from: { type: 'string', value: 'WHERE' },
  file: { type: 'string', value: 'FILE' },
  issue: { type: 'string', value: 'N' },
  project: { type: 'string', value: 'NAME' },
  title: { type: 'string', value: 'TEXT' },
  'no-changes': { type: 'boolean' },
  type: { type: 'string', value: 'TYPE' },
  provider: { type: 'string', value: 'NAME' },
  model: { type: 'string', value: 'NAME' },
  effort: { type: 'string', value: 'NAME' },
  base: { type: 'string', value: 'BRANCH' },
  lines: { type: 'string', short: 'n', value: 'N' },
  on: { type: 'string', value: 'TEXT' },
  option: { type: 'string', value: 'ID' },
  field: { type: 'string', multiple: true, value: 'NAME=VALUE' },
  request: { type: 'string', value: 'ID' },
  now: { type: 'boolean' },
  approve: { type: 'boolean' },
  prefix: { type: 'string', value: 'WORDS' },
  ask: { type: 'string', multiple: true, value: 'COMMAND' },
  stat: { type: 'boolean' },
  squash: { type: 'boolean' },
  create: { type: 'boolean' },
  draft: { type: 'boolean' },
  repository: { type: 'string', value: 'OWNER/NAME' },
  state: { type: 'string', value: 'STATE' },
  outcome: { type: 'string', value: 'TEXT' },
  force: { type: 'boolean' },
  shared: { type: 'boolean' },
  for: { type: 'string', value: 'GOAL' },
  timeout: { type: 'string', value: 'TIME' },
  list: { type: 'boolean' },
  revoke: { type: 'string', value: 'ID' },
  trusted: { type: 'boolean' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies Record<string, Option>;

/** The description of `json`. */
export const AS_JSON = 'Print JSON, for programs';

/** The description of `session`. */
export const SESSION = 'A session, by the beginning of its id (default: the current one)';

/** The description of `state-dir`. */
export const STATE_DIR =
  'The directory of what you trust and approve (DOSSIER_STATE_DIR; default: $XDG_STATE_HOME/dossier, or ~/.local/state/dossier)';

/** The options for starting a daemon, with their descriptions. */
export const SERVING = {
  host: 'A loopback address to listen on (DOSSIER_HOST; default: 127.0.0.1)',
  port: 'The port to listen on; 0: any free one (DOSSIER_PORT; default: 4870, or the next free one)',
  socket:
    'The path of another socket, alone in a directory below /run or /tmp; none: no socket (DOSSIER_SOCKET)',
  'state-dir': STATE_DIR,
  dev: 'Serve the provider endpoints too (DOSSIER_DEV=1)',
  trust: 'Trust settings and webhooks in the files, including later changes (DOSSIER_TRUST=1)',
  'log-level':
    'trace, debug, info, warn, error, fatal or silent (DOSSIER_LOG_LEVEL; default: info)',
};

export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  /** May be repeated. */
  multiple?: true;
  /** The placeholder of its value in the help. */
  value?: string;
}

export type OptionName = keyof typeof OPTIONS;

/** The given values, by the option's name. */
export type Values = { readonly [K in OptionName]?: ValueOf<(typeof OPTIONS)[K]> };

type ValueOf<O extends Option> = O extends { multiple: true }
  ? string[]
  : O['type'] extends 'string'
    ? string
    : boolean;

/** `--port N`, `-h, --help`. */
export const optionSyntax = (name: OptionName): string => {
  const { short, value }: Option = OPTIONS[name];
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
};
