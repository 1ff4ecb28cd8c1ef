import type { GitServer, Hosted } from '../helpers/git-server.ts';
import type { Emulated } from './emulated.ts';
import type { Answer } from './rest.ts';

export type Role = 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';

export interface Credential {
  login: string;
  /** Of a classic token; a fine-grained one names none. */
  scopes: string | null;
  expires?: string;
}

export interface Status {
  sha: string;
  context: string;
  state: 'error' | 'failure' | 'pending' | 'success';
  description: string | null;
  target_url: string | null;
  created_at: string;
}

export interface Checked {
  name: string;
  sha: string;
  conclusion: string | null;
  /** Who checks; a job of Actions where it has one. */
  app: string;
  job?: Job;
  annotations: readonly { path: string; start_line: number; message: string; title?: string }[];
}

export interface Job {
  steps: readonly { name: string; conclusion: string; started_at: string; completed_at: string }[];
  /** Where its log is kept, or what is answered to who asks for it. */
  log: string | number;
}

/** Where a comment on a line stands: the emulated host keeps only one number of it. */
export interface Line {
  line: number | null;
  start_line: number | null;
  diff_hunk: string;
  outdated: boolean;
}

export interface Linked {
  pull: number;
  issue: number;
}

/** What a timeline holds that the emulated host does not know of. */
export interface Told {
  /** Its full name at that time. */
  repository: string;
  number: number;
  event: string;
  actor: string;
  at: string;
  more: Record<string, unknown>;
}

export interface Size {
  commits: number;
  changed_files: number;
  additions: number;
  deletions: number;
}

/** One fake host: the emulated GitHub, the git server, and what neither of them knows. */
export interface World {
  /** What people attached to issues, and where else the host's pages lead, by path. */
  attached: Map<string, Attached>;
  /** The base of the API. */
  url: string;
  /** The host in a link that a person opens. */
  host_name: string;
  emulated: Emulated;
  git: GitServer;
  /** By full name, the new ones only. */
  repositories: Map<string, Hosted>;
  /** From a number of a repository to its full name now. */
  ids: Map<number, string>;
  /** By token. */
  credentials: Map<string, Credential>;
  people: string[];
  roles: Map<string, Role>;
  /** From a fork's full name to that of what it was made of. */
  forks: Map<string, string>;
  /** Full names of those that nothing is written to any more. */
  archived: Set<string>;
  /** From an old full name to the new one. */
  renamed: Map<string, string>;
  /** What a number of the repository (`acme/app#3`) is answered instead. */
  moved: Map<string, Answer>;
  statuses: Status[];
  /** Ids of check runs, by commit. */
  runs: Map<string, number[]>;
  /** What is known of a check run beyond what the emulated host keeps, by its id. */
  checks: Map<number, Checked>;
  lines: Map<number, Line>;
  resolved: Set<string>;
  links: Linked[];
  told: Told[];
  /** By `acme/app#3`. */
  mergeable: Map<string, boolean | null>;
  /** The merge's commit, and that of the base before it. */
  merged: Map<string, { commit: string; base: string }>;
  /** Of what lies between two commits, which never changes. */
  sizes: Map<string, Promise<Size>>;
  /** A head that the API still tells although the branch went on. */
  stale: Map<string, string>;
  /** Whether the branch's rules ask for a review: without one GitHub tells of no decision to come. */
  reviews_required: boolean;
  rate: { limit: number; remaining: number; reset: number };
}

/** What the repository of this name is called now. */
export const nowOf = ({ renamed }: World, name: string): string => renamed.get(name) ?? name;

export const keyOf = (repository: string, number: number): string => `${repository}#${number}`;

/** What a role may: as GET /repos/{owner}/{repo} lists it. */
export const permissionsOf = (role: Role): Record<string, boolean> => {
  const rank = RANKS.indexOf(role);
  const may = (wanted: Role): boolean => rank >= RANKS.indexOf(wanted);
  return {
    admin: may('admin'),
    maintain: may('maintain'),
    push: may('write'),
    triage: may('triage'),
    pull: may('read'),
  };
};

const RANKS: readonly Role[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

export const mayWrite = ({ roles }: World, login: string): boolean =>
  RANKS.indexOf(roles.get(login) ?? 'none') >= RANKS.indexOf('write');

/** Keeps what happened now. */
export const tell = (world: World, told: Omit<Told, 'at'>): void => {
  world.told.push({ ...told, at: new Date().toISOString() });
};

/** What happened to a number of a repository, oldest first, whatever the repository was called then. */
export const toldOf = (world: World, name: string, number: number): Told[] =>
  world.told.filter((told) => told.number === number && nowOf(world, told.repository) === name);

export interface Attached {
  body?: Buffer;
  type?: string;
  location?: string;
  /** To who shows a token alone. */
  private?: boolean;
}
