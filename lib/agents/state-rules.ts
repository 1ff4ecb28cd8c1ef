import type { LoginRule, StateRules } from '../sandbox/state/place.ts';
import {
  activeAccount,
  claudeAccount,
  codexAccount,
  googleAccount,
  openCodeAccount,
  unknownAccount,
} from './account.ts';
import { CLAUDE, CODEX, GEMINI, GEMINI_WHOLE, geminiName, QWEN } from './conversations.ts';

const GOOGLE: LoginRule = {
  renewed: ['access_token', 'refresh_token', 'id_token', 'expiry_date', 'scope', 'token_type'],
  refresh: 'refresh_token',
  account: googleAccount,
};

const CLAUDE_ACCOUNT: LoginRule = {
  ...{ at: 'oauthAccount', renewed: [], account: claudeAccount, tells: true },
};

/**
 * What of the agents' own places goes into a run's copy and comes back from it, by their names below the home directory.
 * Conversations of this project and refreshed logins come back; settings, hooks, plugins, extensions, commands, skills, memories and servers never do.
 * Facts of the agents' releases.
 */
export const STATE_RULES: Readonly<Record<string, StateRules>> = {
  '.claude': {
    left: [
      ...['projects/**', 'shell-snapshots/**', 'session-env/**', 'file-history/**', 'debug/**'],
      ...['logs/**', 'statsig/**', 'telemetry/**', 'todos/**', 'tasks/**', 'backups/**', 'ide/**'],
      ...['paste-cache/**', 'downloads/**', 'image-cache/**', 'history.jsonl', 'cache/**'],
    ],
    shared: ['plugins', 'local'],
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
  '.claude.json': { logins: { '': CLAUDE_ACCOUNT } },
  '.codex': {
    left: [
      ...['sessions/**', 'archived_sessions/**', 'log/**', 'history.jsonl', '*.sqlite*'],
      ...['shell_snapshots/**', 'tmp/**', '.tmp/**', 'worktrees/**', 'ambient-suggestions/**'],
    ],
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
    sessions: {
      'tmp/{hash}/chats/*.json': GEMINI_WHOLE,
      'tmp/{hash}/chats/*.jsonl': GEMINI,
      'tmp/*/chats/*.json': GEMINI_WHOLE,
      'tmp/*/chats/*.jsonl': GEMINI,
    },
    claims: { within: 'tmp', marker: '.project_root', name: geminiName },
    kept: ['projects.json', 'tmp/**'],
    logins: {
      'oauth_creds.json': GOOGLE,
      'google_accounts.json': { renewed: [], account: activeAccount, tells: true },
    },
  },
  '.qwen': {
    left: ['tmp/**', 'history/**', 'projects/**', 'debug/**', 'todos/**', 'logs/**'],
    shared: ['extensions'],
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
  '.config/opencode': {},
};
