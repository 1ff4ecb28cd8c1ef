/** The agents that are tried for real: pinned versions that run on Node 20, and how each is pointed at another model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface NpmPackage {
  name: string;
  version: string;
  /** A script of the package itself that puts its binary in place; npm runs none. */
  setup?: string;
}

export interface RealAgent {
  /** The preset's name. */
  id: string;
  title: string;
  acp: NpmPackage;
  command: NpmPackage;
  /** A model and an effort of it, and what its model is then asked for. */
  choice: Record<'acp' | 'command', { model: string; effort?: string; seen: string }>;
  /** In the environment of the daemon, as an operator has it there. */
  env: Record<string, string>;
  /** Under `env` of the provider in the settings, and besides only needed without a network. */
  settings: Record<string, string>;
  /** Writes the files that the operator's home has for it. */
  configure?: (home: string, model: string) => void;
}

/** `model` is the address of the scripted model, without a path. */
export const realAgents = (model: string): RealAgent[] => [
  claude(model),
  codex(),
  gemini(model),
  opencode(model),
  qwen(model),
];

const claude = (model: string): RealAgent => ({
  id: 'claude',
  title: 'Claude Code',
  choice: {
    acp: { model: 'sonnet', effort: 'high', seen: 'claude-sonnet-4-6 high' },
    command: { model: 'sonnet', effort: 'high', seen: 'claude-sonnet-5 high' },
  },
  acp: { name: '@agentclientprotocol/claude-agent-acp', version: '0.49.0' },
  command: { name: '@anthropic-ai/claude-code', version: '2.1.197', setup: 'install.cjs' },
  env: { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: model },
  // It asks a model that fails ten times else, for minutes.
  settings: { CLAUDE_CODE_MAX_RETRIES: '2' },
  // As it is after a first start at a terminal, which asks for the theme and for the use of the key.
  configure: (home) => {
    const known = { hasCompletedOnboarding: true, customApiKeyResponses: { approved: ['none'] } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(known));
  },
});

const codex = (): RealAgent => ({
  id: 'codex',
  title: 'Codex',
  choice: {
    acp: { model: 'gpt-5.5', effort: 'high', seen: 'gpt-5.5 high' },
    command: { model: 'gpt-5.5', effort: 'high', seen: 'gpt-5.5 high' },
  },
  acp: { name: '@agentclientprotocol/codex-acp', version: '2.6.0' },
  command: { name: '@openai/codex', version: '0.166.0' },
  env: { OPENAI_API_KEY: 'none' },
  settings: {},
  configure: (home, model) => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), CODEX.replace('MODEL', model));
  },
});

const CODEX = `model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "Scripted"
base_url = "MODEL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;

const GEMINI = { name: '@google/gemini-cli', version: '0.61.0' };

const gemini = (model: string): RealAgent => ({
  id: 'gemini',
  title: 'Gemini CLI',
  choice: {
    acp: { model: 'gemini-3.8-flash', seen: 'gemini-3.8-flash' },
    command: { model: 'gemini-3.8-flash', seen: 'gemini-3.8-flash' },
  },
  acp: GEMINI,
  command: GEMINI,
  env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model },
  // Else it asks a model which model to ask.
  settings: { GEMINI_MODEL: 'gemini-2.5-pro' },
  // As it is after a login; with another address for its model it does not go by the key alone.
  configure: (home) => {
    mkdirSync(join(home, '.gemini'));
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
});

const OPENCODE = { name: 'opencode-ai', version: '1.18.33', setup: 'postinstall.mjs' };

const opencode = (model: string): RealAgent => ({
  id: 'opencode',
  title: 'OpenCode',
  choice: {
    acp: { model: 'scripted/two', effort: 'high', seen: 'two high' },
    command: { model: 'scripted/two', effort: 'high', seen: 'two high' },
  },
  acp: OPENCODE,
  command: OPENCODE,
  env: {
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: 'scripted/one',
      small_model: 'scripted/one',
      enabled_providers: ['scripted'],
      autoupdate: false,
      share: 'disabled',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${model}/v1`, apiKey: 'none' },
          models: {
            one: { limit: { context: 100_000, output: 8000 }, cost: { input: 3, output: 15 } },
            two: { reasoning: true, limit: { context: 100_000, output: 8000 } },
          },
        },
      },
    }),
  },
  settings: { OPENCODE_DISABLE_MODELS_FETCH: '1' },
});

const QWEN = { name: '@qwen-code/qwen-code', version: '0.15.10' };

const qwen = (model: string): RealAgent => ({
  id: 'qwen',
  title: 'Qwen Code',
  choice: {
    acp: { model: '$runtime|openai|scripted(openai)', seen: 'scripted' },
    command: { model: 'another', seen: 'another' },
  },
  acp: QWEN,
  command: QWEN,
  env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: 'scripted' },
  settings: {},
});
