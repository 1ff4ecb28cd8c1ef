import type { StateRules } from '../sandbox/state/place.ts';

const LOGIN = ['access_token', 'refresh_token', 'id_token', 'expiry_date', 'scope', 'token_type'];

/**
 * What of the agents' own places goes into a run's copy and comes back from it, by their names below the home directory.
 * Conversations and logins come back; settings, hooks, plugins, extensions, commands, skills, memories and servers never do.
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
    sessions: ['projects/{project}/**/*.jsonl'],
    keys: { '.credentials.json': ['claudeAiOauth.*'], '.claude.json': ['oauthAccount.*'] },
  },
  '.claude.json': { keys: { '': ['oauthAccount.*'] } },
  '.codex': {
    left: [
      ...['sessions/**', 'archived_sessions/**', 'log/**', 'history.jsonl', '*.sqlite*'],
      ...['shell_snapshots/**', 'tmp/**', '.tmp/**', 'worktrees/**', 'ambient-suggestions/**'],
    ],
    sessions: ['sessions/**/rollout-*.jsonl'],
    kept: ['*.sqlite*'],
    keys: { 'auth.json': ['tokens.*', 'last_refresh'] },
  },
  '.gemini': {
    left: ['tmp/**', 'history/**', 'antigravity/**', 'antigravity-browser-profile/**'],
    shared: ['extensions'],
    sessions: ['tmp/*/chats/*.json', 'tmp/*/chats/*.jsonl'],
    kept: ['projects.json', 'tmp/**'],
    keys: { 'oauth_creds.json': LOGIN },
  },
  '.qwen': {
    left: ['tmp/**', 'history/**', 'projects/**', 'debug/**', 'todos/**', 'logs/**'],
    shared: ['extensions'],
    sessions: ['projects/{project}/chats/*.jsonl', 'tmp/*/chats/*.json'],
    kept: ['projects/**', 'tmp/**'],
    keys: { 'oauth_creds.json': LOGIN },
  },
  '.local/share/opencode': {
    left: ['opencode*.db*', 'storage/**', 'snapshot/**', 'log/**', 'repos/**', 'tool-output/**'],
    shared: ['bin'],
    kept: ['opencode*.db*', 'storage/**', 'snapshot/**', 'tool-output/**'],
    keys: { 'auth.json': ['*.access', '*.refresh', '*.expires'] },
  },
  '.local/state/opencode': {},
  '.cache/opencode': {},
  '.config/opencode': {},
};
