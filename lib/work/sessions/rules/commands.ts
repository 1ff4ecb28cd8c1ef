import type { CommandsMatter } from '../../../../store/records/commands.ts';
import { oneLine } from '../../../text/wording.ts';

/** A tool call, with what shows whether a command failed. */
interface Called {
  title: string;
  kind: string;
  status: string;
  exit_code?: number | undefined;
  /** The end of its output. */
  output?: string | undefined;
  /** True where the permission was refused, so it never ran. */
  refused?: boolean;
}

const MOST_KEPT = 10;
const LONGEST_COMMAND = 200;

/**
 * The results of a session's commands, or undefined where none ran. Of a command that ran more than once the newest run
 * counts.
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

/** Agents report a command as completed whatever its exit code, so an exit code decides where there is one. */
export const hasFailed = ({ title, status, exit_code }: Called): boolean => {
  if (exit_code === undefined) return status === 'failed';
  return exit_code !== 0 && !(exit_code === 1 && ANSWERS_BY_EXIT.test(title));
};

// POSIX: exit code 1 of these means "nothing found" or "they differ". A command line with several commands never
// matches.
const ANSWERS_BY_EXIT = /^\s*(?:(?:e|f|git )?grep|rg|diff|git diff|cmp|test|\[)\s[^;&|\n…]*$/;

/**
 * The titles of the edits, where every one failed; else undefined. A session without another change has done nothing.
 */
export const failedEdits = (calls: readonly Called[]): string[] | undefined => {
  const edits = calls.filter(({ kind }) => EDITS.has(kind));
  if (edits.length === 0 || edits.some(({ status }) => status !== 'failed')) return undefined;
  return edits.map(({ title }) => oneLine(title).slice(0, LONGEST_COMMAND));
};

const EDITS = new Set(['edit', 'delete', 'move']);
