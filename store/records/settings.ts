import { type Static, Type } from 'typebox';
import { textOf } from './fields.ts';
import { Choice } from './session.ts';

const Words = Type.Array(Type.String());
/** The output formats of a `command`. */
export const FORMATS = [
  'text',
  'claude-stream-json',
  'codex-jsonl',
  'gemini-stream-json',
  'opencode-json',
] as const;

const Argv = Type.Array(Type.String(), { minItems: 1 });
const Policy = Type.Union([Type.Enum(['ask', 'plan', 'allow']), Words]);

/** The network of programs in the sandbox: all but this machine, the network of this machine, or only these domains. */
export const NetworkSetting = Type.Union([
  Type.Enum(['proxy', 'host']),
  Type.Object({ allow: Type.Array(textOf('domain')) }),
]);

const LocalAddresses = Type.Array(textOf('local'));

export const ProviderSettings = Type.Object({
  kind: Type.Enum(['acp', 'command']),
  preset: Type.Optional(Type.String()),
  /** Defaults for new sessions. */
  ...Choice,
  command: Type.Optional(Type.String()),
  args: Type.Optional(Words),
  /** For a `command`: program and arguments for each phase, and the output format. */
  plan: Type.Optional(Argv),
  work: Type.Optional(Argv),
  output: Type.Optional(Type.Enum([...FORMATS])),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  modes: Type.Optional(
    Type.Object({ plan: Type.Optional(Type.String()), work: Type.Optional(Type.String()) }),
  ),
  state_dirs: Type.Optional(Words),
  state_returns: Type.Optional(Words),
  network: Type.Optional(NetworkSetting),
  allow_local: Type.Optional(LocalAddresses),
});
export type ProviderSettings = Static<typeof ProviderSettings>;

const WorktreeSettings = Type.Object({
  root: Type.Optional(Type.String({ minLength: 1 })),
  ttl_hours: Type.Optional(Type.Number({ minimum: 0 })),
  branch_prefix: Type.Optional(Type.String()),
  branch_template: Type.Optional(Type.String({ minLength: 1 })),
  base_branch: Type.Optional(Type.String({ minLength: 1 })),
  setup: Type.Optional(Words),
  copy_files: Type.Optional(Words),
  share: Type.Optional(Words),
  commit: Type.Optional(Type.Enum(['end', 'never'])),
});

export const CodeHostSettings = Type.Object({
  kind: Type.Optional(Type.Enum(['github'])),
  host: Type.Optional(textOf('host')),
  repository: Type.Optional(textOf('repository')),
  base_remote: Type.Optional(Type.String({ minLength: 1 })),
  push_remote: Type.Optional(Type.String({ minLength: 1 })),
  api_url: Type.Optional(Type.String({ minLength: 1 })),
  timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 600 })),
});
export type CodeHostSettings = Static<typeof CodeHostSettings>;

/** How long, and up to how many megabytes, events are kept for a failing webhook. */
const WebhookSettings = Type.Object({
  retention_hours: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  retention_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
});

/** The languages with a language server. */
export const LANGUAGES = ['rust', 'typescript', 'javascript'] as const;
export type Language = (typeof LANGUAGES)[number];

const LanguageServerSettings = Type.Object({
  command: Type.String({ minLength: 1 }),
  args: Type.Optional(Words),
});

/** What an agent may do in Work mode without asking the operator. */
export const PermissionSettings = Type.Object({
  execute: Type.Optional(Policy),
  fetch: Type.Optional(Type.Enum(['ask', 'allow'])),
});

/** The limits of a run: silence, duration and output; and the silence after which the wait is reported. */
const LimitSettings = Type.Object({
  idle_minutes: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 10_000 })),
  wall_hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 500 })),
  output_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 4096 })),
  quiet_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3600 })),
});

/** The format of workspace files that this release writes. */
export const FORMAT = 1;

/** The front matter of workspace.md: all optional, read again when edited. Unknown keys are kept. */
export const Settings = Type.Object({
  format: Type.Optional(Type.Integer({ minimum: 1, maximum: FORMAT })),
  provider: Type.Optional(Type.String({ minLength: 1 })),
  providers: Type.Optional(Type.Record(Type.String(), ProviderSettings)),
  max_sessions: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  limits: Type.Optional(LimitSettings),
  projects: Type.Optional(Type.Record(Type.String(), Type.String())),
  worktrees: Type.Optional(WorktreeSettings),
  permissions: Type.Optional(PermissionSettings),
  codehost: Type.Optional(CodeHostSettings),
  language_servers: Type.Optional(
    Type.Object({
      rust: Type.Optional(LanguageServerSettings),
      typescript: Type.Optional(LanguageServerSettings),
      javascript: Type.Optional(LanguageServerSettings),
    }),
  ),
  require_key: Type.Optional(Type.Boolean()),
  sandbox: Type.Optional(Type.Enum(['auto', 'off', 'seatbelt'])),
  /** Further readable paths in the sandbox: absolute, or starting with `~/`. */
  sandbox_readable: Type.Optional(Type.Array(textOf('ownPath'))),
  network: Type.Optional(NetworkSetting),
  allow_local: Type.Optional(LocalAddresses),
  /** Variables of every program of a run. `inherit`: the value that the variable has for the daemon. */
  env: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
      Type.Union([Type.String(), Type.Object({ inherit: Type.Literal(true) })]),
      { additionalProperties: false },
    ),
  ),
  webhooks: Type.Optional(WebhookSettings),
  autocommit: Type.Optional(Type.Boolean()),
});
export type Settings = Static<typeof Settings>;

/** The front matter of `.dossier/local.md`: the paths of this machine, which are not shared. */
export const LocalSettings = Type.Object({
  projects: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
});
export type LocalSettings = Static<typeof LocalSettings>;
