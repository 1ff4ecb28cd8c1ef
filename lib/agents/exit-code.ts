import { number, type Wire } from '../text/unknown-json.ts';

/** The exit code in an agent's data. Agents spell the field differently. */
export const exitCodeIn = (told: Wire): { exit_code?: number } => {
  const code = number(told.exit_code) ?? number(told.exitCode) ?? number(told.exit);
  return code !== undefined && Number.isInteger(code) ? { exit_code: code } : {};
};

/** The exit code in the output text of a failed command: Claude Code writes it before the output, Qwen Code after it. */
export const exitCodeSaid = (output: string): { exit_code?: number } => {
  const found = SAID.exec(output.slice(0, AT_BEGINNING)) ?? SAID_LAST.exec(output.slice(-AT_END));
  const code = Number(found?.[1]);
  return found !== null && code > 0 ? { exit_code: code } : {};
};

const AT_BEGINNING = 40;
const AT_END = 400;
const SAID = /^(?:```\w*\n)?(?:Error: )?(?:Exit code|Command exited with code:) (\d{1,3})\b/;
const SAID_LAST = /^(?:Exit Code): (\d{1,3})$/m;
