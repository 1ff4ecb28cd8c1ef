import type { Call } from '../../lib/cli/args/command.ts';
import { parseCommandLine } from '../../lib/cli/args/read.ts';
import { COMMANDS } from '../../lib/cli/commands.ts';

/** What a command is given by these words. Throws UsageError. */
export const callOf = (words: readonly string[], env: NodeJS.ProcessEnv): Call =>
  parseCommandLine(COMMANDS, words, env).call;
