import { ownValue } from '../../store/base/own-value.ts';
import type { KnownAgent } from '../../store/records/applied.ts';
import type { ProviderInfo } from '../../store/records/provider.ts';
import type { StatePlace } from '../sandbox/state/rules.ts';
import type { Environment } from '../tools/process/environment.ts';
import type { ModelChoice } from './model-choice.ts';
import type { Phase } from './provider.ts';
import type { TranscriptFormat } from './terminal/said.ts';

/** The kinds of actions that an agent must ask for in Work mode. */
interface ToAsk {
  execute: boolean;
  fetch: boolean;
}

/** Switches that make an agent ask for permission. */
export interface AskSwitches {
  /** `_meta` of the request that opens the session. */
  meta?: Record<string, unknown>;
  /** Environment variables with JSON objects, merged with the operator's values. */
  env?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Modes that replace the agent's modes for Work mode. */
  modes?: readonly string[];
}

/** An agent's terminal interface. `{session}` is replaced by the id of the conversation. */
export interface TerminalProgram {
  argv: readonly string[];
  /** Further arguments in Plan mode. */
  plan?: readonly string[];
}

/** Facts about an agent, independent of settings. */
interface AgentFacts {
  argv: readonly string[];
  /** Mode ids by phase, the preferred first. Only a mode that the agent lists is set. */
  modes: Record<Phase, readonly string[]>;
  /** `_meta` of the request that opens the session, in both modes. */
  meta?: Record<string, unknown>;
  /** False if the usage in its answer covers only the last model call. */
  sums_turn?: boolean;
  /** True if its cost counter restarts with each process instead of each conversation. */
  cost_restarts?: boolean;
  /**
   * It passes MCP server settings to another process as arguments, which every user of the machine can read. That process
   * expands variables, so the token is passed in one.
   */
  token_by_env?: boolean;
  /** True if its conversation loses a turn that was cancelled: the plan, messages and what it did. */
  drops_cancelled?: boolean;
  /** Its own terminal interface on one of its conversations. Absent: it has none that can resume. */
  terminal?: TerminalProgram;
  /** The format of its transcripts, if it is known. */
  transcript?: TranscriptFormat;
  /** What to do if it requires a login. */
  login?: string;
}

/** Whether there is a login or a key. Its validity is not checked, because that needs the network. */
export type LoginState = NonNullable<ProviderInfo['login']>;

/** How to recognize that an agent is logged in. */
interface LoginSigns {
  /** One of these variables is set. */
  env: readonly string[];
  /** One of these files exists, below the home directory. */
  files: readonly string[];
  /** The answer without either: `unknown` for agents that may need no login or store it elsewhere. */
  otherwise: 'no' | 'unknown';
}

/** A known agent: its command, mode ids and state directories. */
export interface Preset extends AgentFacts {
  /** Its sessions and login below the home directory, writable in both phases. */
  state_dirs: readonly string[];
  /** The variable with which the operator moves the first of them. */
  state_moved_by?: string;
  /** Variables of the daemon's environment that it receives: its key and the address of its model. */
  inherits: readonly string[];
  env?: Environment;
  /** The switches that make it ask; absent for agents that always ask. */
  asks?: (wanted: ToAsk) => AskSwitches;
  /** Sent before a session is opened, if the variable is set. */
  authenticate?: { method: string; when: string };
  logged_in_by?: LoginSigns;
}

/** A preset merged with the operator's settings. */
export interface AcpAgent extends AgentFacts, OwnPlaces {
  id: string;
  /** For Work turns only. */
  asking: AskSwitches;
  authenticate?: string;
}

/** Environment, state and login of a program, from preset and settings. */
export interface OwnPlaces {
  env: Environment;
  /** The paths of its sessions and login. */
  state: readonly StatePlace[];
  /** Checked with each call. */
  loggedIn: () => LoginState;
  /** The default model and effort of the settings. */
  usual: ModelChoice;
}

const OPENAI = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'];

// Mode ids and paths as in released agents; the settings override each.
export const PRESETS: Readonly<Record<KnownAgent, Preset>> = {
  claude: {
    argv: ['claude-agent-acp'],
    modes: { plan: ['plan'], work: ['acceptEdits', 'default'] },
    state_dirs: ['.claude', '.claude.json'],
    state_moved_by: 'CLAUDE_CONFIG_DIR',
    inherits: [
      ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'],
      ...['CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
    ],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    // Makes the adapter report retries and rate limits of the model.
    meta: {
      claudeCode: {
        emitRawSDKMessages: [
          { type: 'system', subtype: 'api_retry' },
          { type: 'rate_limit_event' },
        ],
      },
    },
    // By default it does not ask for commands that it considers harmless.
    asks: ({ execute, fetch }) => {
      const ask = [...(execute ? ['Bash'] : []), ...(fetch ? ['WebFetch', 'WebSearch'] : [])];
      return { meta: { claudeCode: { options: { settings: { permissions: { ask } } } } } };
    },
    logged_in_by: {
      env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      files: ['.claude/.credentials.json'],
      otherwise: 'no',
    },
    cost_restarts: true,
    token_by_env: true,
    transcript: 'claude',
    terminal: {
      argv: ['claude', '--resume', '{session}'],
      plan: ['--permission-mode', 'plan'],
    },
  },
  codex: {
    argv: ['codex-acp'],
    modes: { plan: ['read-only'], work: ['workspace-write', 'agent'] },
    state_dirs: ['.codex'],
    state_moved_by: 'CODEX_HOME',
    inherits: [...OPENAI, 'CODEX_API_KEY', 'CODEX_HOME', 'CODEX_CONFIG'],
    transcript: 'codex',
    terminal: {
      argv: ['codex', 'resume', '{session}'],
      plan: ['--sandbox', 'read-only'],
    },
    // It never asks for what its own sandbox allows, so that allows only reading.
    asks: ({ execute }) => (execute ? { modes: ['read-only'] } : {}),
    // A model_provider in its own settings may need no login.
    logged_in_by: { env: ['CODEX_API_KEY'], files: ['.codex/auth.json'], otherwise: 'unknown' },
    // A key in the environment alone is not enough for it.
    login:
      'Run `codex login` once, or with a key `printenv OPENAI_API_KEY | codex login --with-api-key`. A model_provider in the config.toml of CODEX_HOME also works.',
  },
  gemini: {
    argv: ['gemini', '--acp'],
    modes: { plan: ['plan'], work: ['autoEdit', 'default'] },
    state_dirs: ['.gemini'],
    inherits: [
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
      'GOOGLE_GEMINI_BASE_URL',
      'GOOGLE_CLOUD_PROJECT',
    ],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    authenticate: { method: 'gemini-api-key', when: 'GEMINI_API_KEY' },
    drops_cancelled: true,
    logged_in_by: {
      env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      files: ['.gemini/oauth_creds.json'],
      otherwise: 'no',
    },
    transcript: 'gemini',
    terminal: {
      argv: ['gemini', '--resume', '{session}'],
      plan: ['--approval-mode', 'plan'],
    },
  },
  opencode: {
    argv: ['opencode', 'acp'],
    modes: { plan: ['plan'], work: ['build'] },
    // It exits if it cannot create its settings directory.
    state_dirs: [
      ...['.local/share/opencode', '.local/state/opencode'],
      ...['.cache/opencode', '.config/opencode'],
    ],
    inherits: [...OPENAI, 'ANTHROPIC_API_KEY', 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    asks: ({ execute, fetch }) => ({
      env: {
        OPENCODE_PERMISSION: {
          ...(execute && { bash: { '*': 'ask' } }),
          ...(fetch && { webfetch: 'ask', websearch: 'ask', codesearch: 'ask' }),
        },
      },
    }),
    sums_turn: false,
    // Some of its models need no login.
    logged_in_by: {
      env: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
      files: ['.local/share/opencode/auth.json'],
      otherwise: 'unknown',
    },
    transcript: 'opencode',
    terminal: {
      argv: ['opencode', '--session', '{session}'],
      plan: ['--agent', 'plan'],
    },
  },
  qwen: {
    argv: ['qwen', '--acp'],
    modes: { plan: ['plan'], work: ['auto-edit', 'default'] },
    state_dirs: ['.qwen'],
    inherits: [...OPENAI, 'DASHSCOPE_API_KEY'],
    logged_in_by: {
      env: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
      files: ['.qwen/oauth_creds.json'],
      otherwise: 'no',
    },
    transcript: 'qwen',
    terminal: {
      argv: ['qwen', '--resume', '{session}'],
      plan: ['--approval-mode', 'plan'],
    },
  },
};

const PACKAGES: Readonly<Record<string, string>> = {
  claude: '@anthropic-ai/claude-code',
  'claude-agent-acp': '@agentclientprotocol/claude-agent-acp',
  codex: '@openai/codex',
  'codex-acp': '@agentclientprotocol/codex-acp',
  gemini: '@google/gemini-cli',
  opencode: 'opencode-ai',
  qwen: '@qwen-code/qwen-code',
};

/** What to do if a program is not installed. */
export const howToInstall = (program: string): string => {
  const name = ownValue(PACKAGES, program);
  return name === undefined
    ? 'Install it, or correct its command in workspace.md.'
    : `Install the npm package ${name} so that ${program} is on the PATH.`;
};
