import { basename } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';

/** A path where an agent keeps its state, and what is copied and returned. Patterns are relative to it. */
export interface StatePlace {
  /** Absolute; a directory, or a file. */
  path: string;
  /** Absent for unknown paths: everything is copied, and only what `returns` names comes back. */
  rules?: StateRules;
}

export interface StateRules {
  /** Not copied: other sessions, logs, caches, databases. */
  left?: readonly string[];
  /** Directories that are mounted read-only instead of copied, because they are large. */
  shared?: readonly string[];
  /**
   * Conversations by pattern; the first match counts. `{project}` and `{hash}` stand for the worktree: a match belongs to this
   * project and is copied. With another pattern, a conversation is copied if its name has the agent's session id and its
   * content names this project. Only new conversations of this project, and copied ones that grew, return.
   */
  sessions?: Readonly<Record<string, Conversation>>;
  /** For agents that give each project a directory with a marker file. */
  claims?: Claims;
  /** Stays in the copy between turns of a session and never returns: databases. */
  kept?: readonly string[];
  /** Files with a login, by name (`''` if the path itself is the file). */
  logins?: Readonly<Record<string, LoginRule>>;
  /** Values that JSON files of the copy have besides, by name: what an agent would do to its own state in the copy. */
  sets?: Readonly<Record<string, JsonObject>>;
  /** Settings of the operator that name programs, which may be hidden (`''` if the path itself is the file). */
  names?: readonly string[];
  /** Files that return whole, named by the operator. */
  returns?: readonly string[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Conversation {
  /** The project that a record names, as a path or its SHA-256; undefined if it names none. */
  project: (record: JsonObject) => unknown;
  /** Whether only the first record that names a project counts; default: all. */
  counts?: 'first';
  /** For one JSON object that is rewritten: the key of its messages. Absent for JSON lines that are appended. */
  messages?: string;
  /** What a file's name has of the agent's session id; default: all of it. */
  named?: (id: string) => string;
}

/** Directories that belong to the project whose path their `marker` file contains. */
export interface Claims {
  /** The parent of these directories. */
  within: string;
  marker: string;
  /** The name of a project's directory, to which the agent may add a number. */
  name: (project: string) => string;
}

export interface LoginRule {
  /** The key of the login in the file; `*`: one under each key; absent: the whole file. */
  at?: string;
  /** Values that return after a refresh of the same account, by dotted paths. New keys never return. */
  renewed: readonly string[];
  /** The refresh token. While it is unchanged, nothing needs to return. */
  refresh?: string;
  /** The account that the login states, as any names and values; undefined and null state nothing. */
  account: (login: JsonObject) => JsonObject;
  /** Values that a refresh does not change, apart from the account. */
  fixed?: readonly string[];
  /** The file has no secret and only states the account of the agent's other logins. */
  tells?: true;
}

/** The project and session of one run, which patterns refer to. */
export interface RunScope {
  cwd: string;
  native_session_id?: string | undefined;
}

/** Whether a path matches one of the patterns: `**` is any number of names, `*` any part of one. */
export const matchesPattern = (
  path: string,
  patterns: readonly string[] = [],
  scope: RunScope,
): boolean => patterns.some((pattern) => matcherOf(pattern, scope).test(path));

const matcherOf = (pattern: string, scope: RunScope): RegExp => {
  const known = matchers.get(scope) ?? new Map<string, RegExp>();
  matchers.set(scope, known);
  const matcher = known.get(pattern) ?? regExpOf(resolved(pattern, scope));
  known.set(pattern, matcher);
  return matcher;
};

/** Cached per run, which may have tens of thousands of files. */
const matchers = new WeakMap<RunScope, Map<string, RegExp>>();

/** The rule of the conversation at a path, and whether it belongs to this project by its path alone. */
export const conversationAt = (
  path: string,
  { sessions = {} }: StateRules,
  scope: RunScope,
): { rule: Conversation; placed: boolean } | undefined => {
  const found = Object.entries(sessions).find(([pattern]) =>
    matchesPattern(path, [pattern], scope),
  );
  return found && { rule: found[1], placed: isProjectPattern(found[0]) };
};

/** Whether a match belongs to this project by its path alone. */
export const isProjectPattern = (pattern: string): boolean => /\{(project|hash)\}/.test(pattern);

/** Whether a path may be a conversation of this run. */
export const isOwnConversation = (path: string, rules: StateRules, scope: RunScope): boolean => {
  const found = conversationAt(path, rules, scope);
  return found !== undefined && (found.placed || hasSessionId(path, rules, scope));
};

/** Whether the name of a conversation ends with the agent's session id, as a whole word: the id comes from the agent. */
export const hasSessionId = (path: string, rules: StateRules, scope: RunScope): boolean => {
  const { native_session_id: id = '' } = scope;
  const word = conversationAt(path, rules, scope)?.rule.named?.(id) ?? id;
  const stem = basename(path).replace(/\.jsonl?$/, '');
  return word !== '' && (stem === word || stem.endsWith(`-${word}`));
};

/** Whether a directory may contain a match of one of the patterns. */
export const mayHold = (
  directory: string,
  patterns: readonly string[],
  scope: RunScope,
): boolean => {
  const names = directory.split('/');
  return patterns.some((pattern) => {
    const parts = resolved(pattern, scope).split('/');
    const deep = parts.indexOf('**');
    const fixed = deep === -1 ? parts.slice(0, -1) : parts.slice(0, deep);
    if (deep === -1 && names.length > fixed.length) return false;
    return names.every((name, at) => {
      const part = fixed[at];
      return part === undefined || regExpOf(part).test(name);
    });
  });
};

const resolved = (pattern: string, { cwd }: RunScope): string =>
  pattern.replace('{project}', () => projectOf(cwd)).replace('{hash}', () => sha256(cwd));

// The directory name of a project in Claude Code and Qwen Code.
const projectOf = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

const regExpOf = (pattern: string): RegExp => {
  const parts = pattern.split(/(\*\*\/?|\*)/).map((part) => {
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's');
};
