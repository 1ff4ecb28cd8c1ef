import type { Config } from '../../config.ts';
import type { OptionName, Values } from './options.ts';

/** A call of a command. */
export interface Call {
  readonly config: Config;
  /** All commands, for the help and completion. */
  readonly commands: readonly Command[];
  /** The arguments after its name, without the options. */
  readonly words: readonly string[];
  readonly values: Values;
}

/** Returns the exit code. lib/main.ts prints errors. */
export type Run = (call: Call) => Promise<number>;

/** The declaration of a command, from which its help, completion and manual page are generated. */
export interface Command {
  readonly name: string;
  readonly group: Group;
  /** Its arguments, as in a synopsis: `ITEM [FILE]`. Brackets mean optional, dots mean repeatable. */
  readonly words: string;
  readonly summary: string;
  /** Its options, with their descriptions. */
  readonly options: Readonly<Partial<Record<OptionName, string>>>;
  /** Accesses files of the workspace without the API, so it is refused if a newer Dossier wrote them. */
  readonly usesFiles?: true;
  /** Loads the command's code. */
  readonly open: () => Promise<Run>;
}

export const GROUPS = ['Work items', 'Plans', 'Sessions', 'Daemon', 'Workspace', 'Help'] as const;
type Group = (typeof GROUPS)[number];

/** Declares the commands of a group. */
export const inGroup = (
  group: Group,
  commands: readonly Omit<Command, 'group'>[],
): readonly Command[] => commands.map((command) => ({ ...command, group }));
