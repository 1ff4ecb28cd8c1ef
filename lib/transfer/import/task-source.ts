import type { FileProblem } from '../../../store/front-matter/problem.ts';

/** A task of another tool, as every importer reads it. */
export interface SourceTask {
  /** By what others of the same source name it. */
  key: string;
  /** The same whenever the task is read, and no other's: its Work item's id is made from it. */
  identity: string;
  /** The identity instead, where a tool gives one to two tasks. Without it the second is told as a problem. */
  spare?: string;
  /** Where it stands, as it is told: `issues.jsonl:12`. */
  file: string;
  /** Of all that the tool says of it. */
  sha256: string;
  title: string;
  type: string;
  labels: readonly string[];
  fate: Fate;
  created: Date | undefined;
  updated: Date | undefined;
  body: string;
  /** The keys of the tasks that it names, by the names as they stand in it. */
  names: ReadonlyMap<string, string>;
  /** What a Work item has no place for, as it is. */
  raw: Record<string, unknown>;
}

export type Fate = 'open' | 'blocked' | 'done' | 'dropped';

/** The tasks of another tool, read: nothing of it is written, and no link of it is followed. */
export interface TaskSource {
  /** As it calls itself. */
  tool: string;
  /** The key of the front matter below which all stands that a Work item has no place for. */
  key: string;
  name: string;
  /** Where it was read. */
  at: string;
  tasks: readonly SourceTask[];
  /** What cannot be read. It keeps no other from coming in. */
  problems: readonly FileProblem[];
  /** What stays where it is, in words. */
  left: readonly string[];
}
