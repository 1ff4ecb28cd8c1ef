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
   * Conversations: they return where nobody else changed them, and are copied where they are of this worktree
   * (`{project}` stands in the pattern for its path) or carry the id of the agent's session in their name.
   */
  sessions?: readonly string[];
  /** Stays in the copy from turn to turn of a session, and never returns: databases. */
  kept?: readonly string[];
  /**
   * Of a JSON file (`''` where the place is one), by its name, the values that return: where they are there outside and
   * nobody else changed them meanwhile. Never a new key: it may name a program or an endpoint.
   */
  keys?: Readonly<Record<string, readonly string[]>>;
  /** Files that return whole, as the operator names them. */
  returns?: readonly string[];
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
  { cwd }: Mine,
): boolean =>
  patterns.some((pattern) => regExpOf(pattern.replace('{project}', projectOf(cwd))).test(path));

/** Whether a conversation is this run's own. */
export const isMine = (path: string, { sessions = [] }: StateRules, mine: Mine): boolean => {
  const { native_session_id: id } = mine;
  if (!matchesPattern(path, sessions, mine)) return false;
  const ofWorktree = sessions.filter((pattern) => pattern.includes('{project}'));
  return matchesPattern(path, ofWorktree, mine) || (id !== undefined && path.includes(id));
};

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
