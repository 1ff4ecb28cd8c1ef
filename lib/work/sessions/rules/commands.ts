import type { CommandsMatter } from '../../../../store/records/commands.ts';
import { oneLine } from '../../../text/wording.ts';

/** A tool call, as far as it tells whether a command failed. */
interface Called {
  title: string;
  kind: string;
  status: string;
  exit_code?: number | undefined;
  /** The end of what it wrote. */
  output?: string | undefined;
  /** It was not run: its permission was refused. */
  refused?: boolean;
}

const MOST_KEPT = 10;
const LONGEST_COMMAND = 200;

/**
 * What the commands of a session came to. A command that failed and passed when it ran again has passed: its newest run
 * decides. Undefined where none ran.
 */
export const commandsOf = (calls: readonly Called[]): CommandsMatter | undefined => {
  const newest = new Map<string, Called>();
  for (const call of calls) if (hasRun(call)) newest.set(call.title, call);
  if (newest.size === 0) return undefined;
  const failed = [...newest.values()].filter(hasFailed);
  return {
    run: newest.size,
    failed_count: failed.length,
    failed: failed.slice(0, MOST_KEPT).map(({ title, exit_code = null, output = '' }) => ({
      command: oneLine(title).slice(0, LONGEST_COMMAND),
      exit_code,
      output,
    })),
  };
};

const hasRun = ({ kind, status, refused }: Called): boolean =>
  kind === 'execute' && refused !== true && (status === 'completed' || status === 'failed');

/** Agents call a command completed that ended with an exit code: the code decides where there is one. */
export const hasFailed = ({ title, status, exit_code }: Called): boolean => {
  if (exit_code === undefined) return status === 'failed';
  return exit_code !== 0 && !(exit_code === 1 && ANSWERS_BY_EXIT.test(title));
};

// Their exit code 1 is the answer "nothing found" or "they differ", as POSIX has it. A command line of several is none of these.
const ANSWERS_BY_EXIT = /^\s*(?:(?:e|f|git )?grep|rg|diff|git diff|cmp|test|\[)\s[^;&|\n]*$/;

/** Every edit that was tried failed. A session that did nothing else has done nothing. */
export const failedEdits = (calls: readonly Called[]): string[] | undefined => {
  const edits = calls.filter(({ kind }) => EDITS.has(kind));
  if (edits.length === 0 || edits.some(({ status }) => status !== 'failed')) return undefined;
  return edits.map(({ title }) => oneLine(title).slice(0, LONGEST_COMMAND));
};

const EDITS = new Set(['edit', 'delete', 'move']);
