import type { KnownAgent } from '../../store/records/applied.ts';
import type { StatePlace } from '../sandbox/state/rules.ts';
import type { Environment } from '../tools/process/environment.ts';
import type { LoginSigns, LoginState } from './login.ts';
import type { ModelChoice } from './model-choice.ts';
import type { Phase } from './provider.ts';

/** What an agent is to ask leave for in Work mode, each time. */
interface ToAsk {
  execute: boolean;
  fetch: boolean;
}

/** How an agent is made to ask. */
export interface AskSwitches {
  /** `_meta` of the request that opens its session. */
  meta?: Record<string, unknown>;
  /** JSON objects for variables of its environment, into which what the operator has there is merged. */
  env?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The modes of Work mode, instead of its others. */
  modes?: readonly string[];
}

/** How an agent is, whoever uses it. */
interface AgentFacts {
  argv: readonly string[];
  /** Mode ids by phase, the best first; only one that the agent lists is set. */
  modes: Record<Phase, readonly string[]>;
  /** `_meta` of the request that opens its session, in both modes. */
  meta?: Record<string, unknown>;
  /** False where the usage it answers with covers the last model call only. */
  sums_turn?: boolean;
  /** True where the cost it tells begins at nothing with each of its processes, not with the conversation. */
  cost_restarts?: boolean;
  /**
   * It hands what it is told of MCP servers to another process as arguments, which every user of the machine can read, and
   * that one puts in variables of its environment: so the token goes by one.
   */
  token_by_env?: boolean;
  /** What to do when it is not there. */
  hint: string;
  /** What to do when it wants a login; most take a key from the environment as well. */
  login?: string;
}

/** An agent that is known by name: how it is started, what its modes are called, where it keeps its own files. */
export interface Preset extends AgentFacts {
  /** Below the home directory: its sessions and login, writable to it in both phases. */
  state_dirs: readonly string[];
  /** The variable by which the operator moves the first of them elsewhere. */
  state_moved_by?: string;
  /** Variables of the daemon's environment that it is given: its key and where its model is. */
  inherits: readonly string[];
  env?: Environment;
  /** Without it, it asks by itself. */
  asks?: (wanted: ToAsk) => AskSwitches;
  /** Sent before a session is opened, when the variable is set. */
  authenticate?: { method: string; when: string };
  logged_in_by?: LoginSigns;
}

/** A preset and the operator's settings, put together. */
export interface AcpAgent extends AgentFacts, OwnPlaces {
  id: string;
  /** Of the Work turn alone. */
  asking: AskSwitches;
  authenticate?: string;
}

/** What a program is given of its own, preset and settings put together. */
export interface OwnPlaces {
  env: Environment;
  /** Where it keeps its sessions and its login. */
  state: readonly StatePlace[];
  /** Looked up anew with each call. */
  loggedIn: () => LoginState;
  /** What the settings choose where nobody else does. */
  usual: ModelChoice;
}

const OPENAI = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'];

// The mode ids and places are facts of the agents' releases; the settings override each.
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
    // Else nobody hears that its model refuses it.
    meta: {
      claudeCode: {
        emitRawSDKMessages: [
          { type: 'system', subtype: 'api_retry' },
          { type: 'rate_limit_event' },
        ],
      },
    },
    // Of its own accord it asks for no command that it takes for harmless.
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
    hint: 'Install the npm package @agentclientprotocol/claude-agent-acp so that claude-agent-acp is on the PATH.',
  },
  codex: {
    argv: ['codex-acp'],
    modes: { plan: ['read-only'], work: ['workspace-write', 'agent'] },
    state_dirs: ['.codex'],
    state_moved_by: 'CODEX_HOME',
    inherits: [...OPENAI, 'CODEX_API_KEY', 'CODEX_HOME', 'CODEX_CONFIG'],
    // What its own sandbox lets a command do it never asks for: so that is reading alone.
    asks: ({ execute }) => (execute ? { modes: ['read-only'] } : {}),
    // A model_provider of its own settings does without.
    logged_in_by: { env: ['CODEX_API_KEY'], files: ['.codex/auth.json'], otherwise: 'unknown' },
    hint: 'Install the npm package @agentclientprotocol/codex-acp so that codex-acp is on the PATH.',
    // With a key in its environment alone it still asks for a login.
    login:
      'Run `codex login` once, or with a key `printenv OPENAI_API_KEY | codex login --with-api-key`; a model_provider in the config.toml of CODEX_HOME does as well.',
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
    logged_in_by: {
      env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      files: ['.gemini/oauth_creds.json'],
      otherwise: 'no',
    },
    hint: 'Install the npm package @google/gemini-cli so that gemini is on the PATH.',
  },
  opencode: {
    argv: ['opencode', 'acp'],
    modes: { plan: ['plan'], work: ['build'] },
    // It ends at once where it cannot make the directory of its settings.
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
    // Some of its models ask for none.
    logged_in_by: {
      env: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
      files: ['.local/share/opencode/auth.json'],
      otherwise: 'unknown',
    },
    hint: 'Install the npm package opencode-ai so that opencode is on the PATH.',
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
    hint: 'Install the npm package @qwen-code/qwen-code so that qwen is on the PATH.',
  },
};
