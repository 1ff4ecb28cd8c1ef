import { basename } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';

/** Where an agent keeps its own, and what of it goes which way. Patterns are relative to it; `*` is within a name. */
export interface StatePlace {
  /** Absolute; a directory, or a file. */
  path: string;
  /** Absent for places that nobody here knows: all is copied, and nothing returns but what `returns` names. */
  rules?: StateRules;
}

export interface StateRules {
  /** Not copied: others' sessions, logs, caches, databases. */
  left?: readonly string[];
  /** Seen as they are, read-only: large, and nothing that a run has to write. */
  shared?: readonly string[];
  /**
   * Conversations, by pattern; the first that matches counts. `{project}` and `{hash}` stand for the worktree: what matches
   * such a pattern is of this project by its place, and is copied. Of the others one is copied that has the id of the agent's
   * session in its name and names this project. None returns but a new one of this project, or one that was copied and grew.
   */
  sessions?: Readonly<Record<string, Conversation>>;
  /** Of an agent that names the directory of a project anew. */
  claims?: Claims;
  /** Stays in the copy from turn to turn of a session, and never returns: databases. */
  kept?: readonly string[];
  /** Files with a login, by their names (`''` where the place is one). */
  logins?: Readonly<Record<string, LoginRule>>;
  /** Files that return whole, as the operator names them. */
  returns?: readonly string[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Conversation {
  /** The project that a record states, as a path or its SHA-256; undefined where it states none. */
  project: (record: JsonObject) => unknown;
  /** Which statements have to name this project: each, where left out. */
  counts?: 'first';
  /** One JSON object, written anew as a whole, with its messages under this key. Else a JSON object on each line, appended. */
  messages?: string;
}

/** A directory belongs to the project whose path the file `marker` in it holds. */
export interface Claims {
  /** Of all such directories. */
  within: string;
  marker: string;
  /** What a directory is named after its project, if need be with a number behind. */
  name: (project: string) => string;
}

export interface LoginRule {
  /** Where in the file the login is; `*`: one under each key; left out: all of it. */
  at?: string;
  /** The values of it that return, by dotted paths, where it is a refresh of the same account. Never a new key. */
  renewed: readonly string[];
  /** The value that a refresh needs. While it is still the operator's, nothing has to return. */
  refresh?: string;
  /** What it says of whose it is, by any names; undefined and null say nothing. */
  account: (login: JsonObject) => JsonObject;
  /** Values that are the same after a refresh, and say nothing of the account. */
  fixed?: readonly string[];
  /** It holds no secret, and says only whose the logins beside it are. */
  tells?: true;
}

/** What the patterns of one run stand for. */
export interface Mine {
  cwd: string;
  native_session_id?: string | undefined;
}

/** Whether a path matches one of the patterns: `**` is any number of names, `*` any part of one. */
export const matchesPattern = (
  path: string,
  patterns: readonly string[] = [],
  mine: Mine,
): boolean => patterns.some((pattern) => matcherOf(pattern, mine).test(path));

const matcherOf = (pattern: string, mine: Mine): RegExp => {
  const known = matchers.get(mine) ?? new Map<string, RegExp>();
  matchers.set(mine, known);
  const matcher = known.get(pattern) ?? regExpOf(resolved(pattern, mine));
  known.set(pattern, matcher);
  return matcher;
};

/** Of each run: there may be tens of thousands of files. */
const matchers = new WeakMap<Mine, Map<string, RegExp>>();

/** The pattern of the conversations that a path is one of. */
export const sessionPattern = (
  path: string,
  { sessions = {} }: StateRules,
  mine: Mine,
): string | undefined =>
  Object.keys(sessions).find((pattern) => matchesPattern(path, [pattern], mine));

/** Whether what matches is of this project by its place alone. */
export const isOfWorktree = (pattern: string): boolean => /\{(project|hash)\}/.test(pattern);

/** Whether a conversation may be this run's own, as its path has it. */
export const isMine = (path: string, rules: StateRules, mine: Mine): boolean => {
  const pattern = sessionPattern(path, rules, mine);
  return pattern !== undefined && (isOfWorktree(pattern) || hasId(path, mine));
};

/** Whether the id of the agent's session is in its name. An agent says what its id is: so it has to be all of it. */
export const hasId = (path: string, { native_session_id: id = '' }: Mine): boolean => {
  const stem = basename(path).replace(/\.jsonl?$/, '');
  return id !== '' && (stem === id || stem.endsWith(`-${id}`));
};

/** Whether below a directory there may be what matches one of the patterns. */
export const mayHold = (
  directory: string,
  patterns: readonly string[] = [],
  mine: Mine,
): boolean => {
  const names = directory.split('/');
  return patterns.some((pattern) => {
    const parts = resolved(pattern, mine).split('/');
    const deep = parts.indexOf('**');
    const fixed = deep === -1 ? parts.slice(0, -1) : parts.slice(0, deep);
    if (deep === -1 && names.length > fixed.length) return false;
    return names.every((name, at) => {
      const part = fixed[at];
      return part === undefined || regExpOf(part).test(name);
    });
  });
};

const resolved = (pattern: string, { cwd }: Mine): string =>
  pattern.replace('{project}', () => projectOf(cwd)).replace('{hash}', () => sha256(cwd));

// As Claude Code and Qwen Code name the directory of a project.
const projectOf = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

const regExpOf = (pattern: string): RegExp => {
  const parts = pattern.split(/(\*\*\/?|\*)/).map((part) => {
    if (part === '**/') return '(?:[^/]+/)*';
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's');
};
