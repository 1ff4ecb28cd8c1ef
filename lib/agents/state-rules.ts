import { basename } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import type { Conversation, JsonObject, LoginRule, StateRules } from '../sandbox/state/rules.ts';
import { record, text } from '../text/unknown-json.ts';

// The account that a login file states, as released agents write it. Nothing is verified.

/** `oauthAccount` in Claude Code's settings; its tokens, in another file, state no account. */
const claudeAccount = ({ accountUuid, organizationUuid, emailAddress }: JsonObject) => ({
  accountUuid,
  organizationUuid,
  emailAddress,
});

const codexAccount = ({ tokens }: JsonObject): JsonObject => {
  const { account_id, id_token, access_token } = record(tokens);
  const { sub, email } = claimsOf(id_token);
  const [id, access] = [openAiClaims(id_token), openAiClaims(access_token)];
  return { account_id, sub, email, ...id, 'access.account': access.chatgpt_account_id };
};

/** Gemini CLI: the claims of Google's token, and the active account in another file. */
const googleAccount = ({ id_token }: JsonObject): JsonObject => {
  const { sub, email } = claimsOf(id_token);
  return { sub, email };
};
const activeAccount = ({ active }: JsonObject): JsonObject => ({ active });

/** One provider of OpenCode. */
const openCodeAccount = ({ accountId, access }: JsonObject): JsonObject => ({
  accountId,
  ...openAiClaims(access),
});

/** A login that states no account. */
const unknownAccount = (): JsonObject => ({});

const openAiClaims = (token: unknown): JsonObject => {
  const claims = record(claimsOf(token)['https://api.openai.com/auth']);
  const { chatgpt_account_id, chatgpt_user_id } = claims;
  return { chatgpt_account_id, chatgpt_user_id };
};

/** The claims of a JSON Web Token; empty if it is none. */
const claimsOf = (token: unknown): JsonObject => {
  const payload = text(token)?.split('.')[1];
  if (payload === undefined) return {};
  const read = (): unknown => JSON.parse(Buffer.from(payload, 'base64url').toString());
  return record(orElse(read, undefined));
};

// The formats of conversations, and where they name their project, as released agents write them.

/** The shell may change directory: the first one is the project. */
const CLAUDE: Conversation = { project: ({ cwd }) => cwd, counts: 'first' };

/** Codex continues a conversation in the last recorded directory. */
const CODEX: Conversation = {
  project: ({ type, payload }) =>
    type === 'session_meta' || type === 'turn_context' ? record(payload).cwd : undefined,
};

const shortId = (id: string): string => id.slice(0, 8);

/** `$set` replaces values of the first line. */
const GEMINI: Conversation = {
  named: shortId,
  project: ({ projectHash, $set }) => projectHash ?? record($set).projectHash,
};
/** The format of older releases. */
const GEMINI_WHOLE: Conversation = {
  named: shortId,
  project: ({ projectHash }) => projectHash,
  messages: 'messages',
};

const QWEN: Conversation = { project: ({ cwd }) => cwd };

/** The directory name of a project in Gemini CLI. */
const geminiName = (project: string): string =>
  basename(project)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'project';

const GOOGLE: LoginRule = {
  renewed: ['access_token', 'refresh_token', 'id_token', 'expiry_date', 'scope', 'token_type'],
  refresh: 'refresh_token',
  account: googleAccount,
};

const CLAUDE_ACCOUNT: LoginRule = {
  at: 'oauthAccount',
  renewed: [],
  account: claudeAccount,
  tells: true,
};

/**
 * Which files of the agents' state are copied for a run and returned, by path below the home directory. Conversations of this
 * project and refreshed logins return; settings, hooks, plugins, extensions, commands, skills, memories and servers never do.
 */
export const STATE_RULES: Readonly<Record<string, StateRules>> = {
  '.claude': {
    left: [
      ...['projects/**', 'shell-snapshots/**', 'session-env/**', 'file-history/**', 'debug/**'],
      ...['logs/**', 'statsig/**', 'telemetry/**', 'todos/**', 'tasks/**', 'backups/**', 'ide/**'],
      ...['paste-cache/**', 'downloads/**', 'image-cache/**', 'history.jsonl', 'cache/**'],
    ],
    shared: ['plugins', 'local'],
    names: ['settings.json', 'settings.local.json', '.claude.json'],
    sessions: { 'projects/{project}/**/*.jsonl': CLAUDE },
    logins: {
      '.credentials.json': {
        at: 'claudeAiOauth',
        renewed: ['accessToken', 'refreshToken', 'expiresAt'],
        refresh: 'refreshToken',
        account: unknownAccount,
        fixed: ['scopes', 'subscriptionType'],
      },
      '.claude.json': CLAUDE_ACCOUNT,
    },
  },
  '.claude.json': { names: [''], logins: { '': CLAUDE_ACCOUNT } },
  '.codex': {
    left: [
      ...['sessions/**', 'archived_sessions/**', 'log/**', 'history.jsonl', '*.sqlite*'],
      ...['shell_snapshots/**', 'tmp/**', '.tmp/**', 'worktrees/**', 'ambient-suggestions/**'],
    ],
    names: ['config.toml', 'hooks.json'],
    sessions: { 'sessions/*/*/*/rollout-*.jsonl': CODEX },
    kept: ['*.sqlite*'],
    logins: {
      'auth.json': {
        renewed: [
          ...['tokens.id_token', 'tokens.access_token', 'tokens.refresh_token', 'last_refresh'],
        ],
        refresh: 'tokens.refresh_token',
        account: codexAccount,
        fixed: ['OPENAI_API_KEY', 'auth_mode'],
      },
    },
  },
  '.gemini': {
    left: ['tmp/**', 'history/**', 'antigravity/**', 'antigravity-browser-profile/**'],
    shared: ['extensions'],
    names: ['settings.json'],
    sessions: {
      'tmp/{hash}/chats/*.json': GEMINI_WHOLE,
      'tmp/{hash}/chats/*.jsonl': GEMINI,
      'tmp/*/chats/*.json': GEMINI_WHOLE,
      'tmp/*/chats/*.jsonl': GEMINI,
    },
    claims: { within: 'tmp', marker: '.project_root', name: geminiName },
    kept: ['projects.json', 'tmp/**'],
    // When it starts, it deletes each conversation whose file begins with a session that has said nothing yet: one that is
    // continued has several files with one short id, and all of them are lost.
    sets: { 'settings.json': { general: { sessionRetention: { enabled: false } } } },
    logins: {
      'oauth_creds.json': GOOGLE,
      'google_accounts.json': { renewed: [], account: activeAccount, tells: true },
    },
  },
  '.qwen': {
    left: ['tmp/**', 'history/**', 'projects/**', 'debug/**', 'todos/**', 'logs/**'],
    shared: ['extensions'],
    names: ['settings.json'],
    sessions: {
      'projects/{project}/chats/*.jsonl': QWEN,
      'tmp/{hash}/chats/*.json': GEMINI_WHOLE,
    },
    kept: ['projects/**', 'tmp/**'],
    logins: { 'oauth_creds.json': { ...GOOGLE, account: unknownAccount } },
  },
  '.local/share/opencode': {
    left: ['opencode*.db*', 'storage/**', 'snapshot/**', 'log/**', 'repos/**', 'tool-output/**'],
    shared: ['bin'],
    kept: ['opencode*.db*', 'storage/**', 'snapshot/**', 'tool-output/**'],
    logins: {
      'auth.json': {
        at: '*',
        renewed: ['access', 'refresh', 'expires'],
        refresh: 'refresh',
        account: openCodeAccount,
        fixed: ['type', 'enterpriseUrl'],
      },
      'account.json': { renewed: [], account: unknownAccount },
    },
  },
  '.local/state/opencode': {},
  '.cache/opencode': {},
  '.config/opencode': { names: ['opencode.json', 'opencode.jsonc', 'config.json'] },
};
