import type { Config } from '../../config.ts';
import type { OptionName, Values } from './options.ts';

/** What a command is given. */
export interface Call {
  readonly config: Config;
  /** All that there are, for what tells of them. */
  readonly commands: readonly Command[];
  /** What stands behind its name, without the options. */
  readonly words: readonly string[];
  readonly values: Values;
}

/** Answers the exit code. What is thrown is told as lib/main.ts says. */
export type Run = (call: Call) => Promise<number>;

/** A command, declared: its help, its completion and its page of the manual are made from this. */
export interface Command {
  readonly name: string;
  readonly group: Group;
  /** What it takes, as in a synopsis: `ITEM [FILE]`. Brackets may be left out, and dots mean more of them. */
  readonly words: string;
  readonly summary: string;
  /** What each option of its own does. */
  readonly options: Readonly<Partial<Record<OptionName, string>>>;
  /** Reads or writes the workspace's files itself, not by the API: refused where a newer Dossier wrote them. */
  readonly usesFiles?: true;
  /** Loads what it needs: none waits for the code of another. */
  readonly open: () => Promise<Run>;
}

export const GROUPS = ['Work items', 'Plans', 'Sessions', 'Daemon', 'Workspace', 'Help'] as const;
export type Group = (typeof GROUPS)[number];
