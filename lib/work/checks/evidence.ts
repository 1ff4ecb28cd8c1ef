import { fenceOff } from '../../../store/base/text.ts';
import type { CheckRun, Proof } from '../../../store/records/proof.ts';

/** The number of the next run of this command on the same files, from 1. */
export const nextAttempt = (
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

/** The changed files that are named like tests, for whoever judges the check. */
export const changedTests = (paths: readonly string[]): string[] =>
  paths.filter((path) => TESTS.some((pattern) => pattern.test(path))).slice(0, MOST_TESTS);

/** The text of a check that the operator reads and verifies: its result in one sentence, then the whole output. */
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
  'Files of the worktree changed while the check was running, so it does not prove the current files. Run it again.';

const sentence = ({ command, status, exit_code, attempt }: CheckRun): string => {
  const which = `\`${command.split('\n', 1)[0]}\``;
  const exit = exit_code === null ? '' : ` (exit ${exit_code})`;
  return {
    running: `${which} is running.`,
    passed: `${which} passed on run ${attempt}${exit}.`,
    failed: `${which} failed on run ${attempt}${exit}.`,
    aborted: `${which} was aborted. It proves nothing.`,
    interrupted: `${which} was interrupted because the daemon ended. It proves nothing.`,
  }[status];
};
