import { fenceOff } from '../../../store/base/text.ts';
import type { CheckRun, Proof } from '../../../store/records/proof.ts';

/** A run that has ended, as far as its record says. */
export type CheckEnd = Pick<CheckRun, 'status' | 'exit_code' | 'changed_tree'>;

/** Which run of this command on these files the next one is. */
export const attemptOf = (
  proofs: readonly Pick<Proof, 'tree' | 'run'>[],
  command: string,
  tree: string | undefined,
): number =>
  1 + proofs.filter((proof) => proof.run?.command === command && proof.tree === tree).length;

const TESTS = [
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testdata)\//i,
  /[._-](?:test|spec)s?\.[^/.]+$/i,
  /(?:^|\/)test_[^/]*\.py$/,
];

const MOST_TESTS = 100;

/** Those of the changed files whose names are the ones that tests have: who judges the check looks at them. */
export const changedTests = (paths: readonly string[]): string[] =>
  paths.filter((path) => TESTS.some((pattern) => pattern.test(path))).slice(0, MOST_TESTS);

/** What the operator reads of a check, and verifies: the sentence first, then all that it wrote. */
export const evidenceText = (run: CheckRun, output: string): string =>
  [
    sentence(run),
    ...(run.changed_tests.length === 0
      ? []
      : [`Test files that the work changed: ${run.changed_tests.map(quoted).join(', ')}`]),
    ...(run.changed_tree === true ? [CHANGED] : []),
    fenceOff(`$ ${run.command}\n${output}`, 'text'),
  ].join('\n\n');

const quoted = (path: string): string => `\`${path}\``;

const CHANGED =
  'Files of the worktree changed while the check ran, so it proves none of what is there now. Run it again.';

const sentence = ({ command, status, exit_code, attempt }: CheckRun): string => {
  const which = `\`${command.split('\n', 1)[0]}\``;
  const exit = exit_code === null ? '' : ` (exit ${exit_code})`;
  return {
    running: `${which} is running.`,
    passed: `${which} passed on run ${attempt}${exit}.`,
    failed: `${which} failed on run ${attempt}${exit}.`,
    aborted: `${which} was aborted. It proves nothing.`,
    interrupted: `${which} was cut off: the daemon ended while it ran. It proves nothing.`,
  }[status];
};
