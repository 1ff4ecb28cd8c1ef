import { withoutLocks } from '../../../store/base/mutex.ts';
import { isRepeatedCall, newId } from '../../../store/base/new-id.ts';
import { visible } from '../../../store/base/visible.ts';
import { runLimits } from '../../../store/records/applied.ts';
import type { CheckRun, Proof } from '../../../store/records/proof.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { newRunMarker } from '../../../store/sessions/run-marker.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import { liveOutput } from '../../agents/coalesce.ts';
import { launchDeps } from '../../agents/launch.ts';
import { plainRun } from '../../agents/run-end.ts';
import { type Ran, runScript } from '../../agents/script.ts';
import { describeWork, worktreeDiff } from '../../code/worktrees/inspect/diff.ts';
import { checkState } from '../../code/worktrees/inspect/status.ts';
import { getWorktree } from '../../code/worktrees/read.ts';
import { viewOf } from '../../code/worktrees/turn/open.ts';
import type { Program } from '../../tools/process/spawn.ts';
import { checkCommand } from '../cases/text.ts';
import { listProofs, newMatter, storeProof } from '../proof/attach.ts';
import { beginOperation, type Operation } from '../sessions/lifecycle/operation.ts';
import { type LiveRun, mustStop } from '../sessions/live/engine.ts';
import type { SessionNeeds } from '../sessions/live/needs.ts';
import { evidenceText, storeResult } from './end.ts';

interface CheckRequest {
  /** The command exactly as the operator sent it, which is the consent to run it. */
  command: string;
  type: string;
}

/**
 * Starts a check in the Work item's worktree, in the sandbox of its sessions, and returns its `running` record. It
 * holds the session lock and a slot of `max_sessions`. Throws 409 while the worktree is in use.
 */
export const runCheck = async (
  service: SessionNeeds,
  caseId: string,
  { command, type }: CheckRequest,
): Promise<Proof> => {
  checkCommand(command);
  const id = newId();
  const known = isRepeatedCall() ? await listProofs(service.store, caseId) : [];
  const made = known.find((proof) => proof.id === id);
  if (made !== undefined) return made;
  const worktree = getWorktree(service.store, caseId);
  await checkState(worktree);
  const run_marker = newRunMarker(service.store.layout, id);
  const run = { case_id: caseId, session_id: id, run_marker, phase: 'work' } as const;
  const operation = await beginOperation(service, run, 'check');
  try {
    const check = await storeStarted(service, operation.live, { worktree, command, type });
    void withoutLocks(() => finish(service, operation, check));
    return check.proof;
  } catch (error) {
    await finish(service, operation, undefined);
    throw error;
  }
};

interface Check {
  worktree: WorktreeRecord;
  proof: Proof;
  run: CheckRun;
}

const storeStarted = async (
  service: SessionNeeds,
  live: LiveRun,
  { worktree, command, type }: CheckRequest & { worktree: WorktreeRecord },
): Promise<Check> => {
  const { store } = service;
  const { case_id } = live;
  const matter = await newMatter(service, case_id, { type });
  const { changed } = await worktreeDiff(service.git, worktree);
  const earlier = await listProofs(store, case_id);
  const run: CheckRun = {
    command,
    status: 'running',
    exit_code: null,
    attempt: nextAttempt(earlier, command, matter.tree ?? undefined),
    sandbox: sandboxKind(service),
    started_at: store.clock().toISOString(),
    ended_at: null,
    changed_tests: changedTests(changed.map(({ path }) => visible(path))),
  };
  const made = { ...matter, id: live.session_id, run, run_marker: live.run_marker };
  const content = evidenceText(run, '');
  const { proof } = await storeProof(store, case_id, { matter: made, content });
  return { worktree, proof, run };
};

/** The number of the next run of this command on the same files, from 1. */
const nextAttempt = (
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

/** The changed files that are named like tests, for the person who reviews the check. */
const changedTests = (paths: readonly string[]): string[] =>
  paths.filter((path) => TESTS.some((pattern) => pattern.test(path))).slice(0, MOST_TESTS);

const sandboxKind = (service: SessionNeeds): CheckRun['sandbox'] => {
  const { kind, untried } = service.sandbox();
  return untried === true ? 'seatbelt' : kind;
};

const finish = async (
  service: SessionNeeds,
  { live, end }: Operation,
  check: Check | undefined,
): Promise<void> => {
  const complain = (what: string) => (error: unknown) =>
    service.log.error({ err: error, case_id: live.case_id }, what);
  if (check !== undefined)
    await perform(service, live, check).catch(complain('storing the result of a check failed'));
  await end().catch(complain('ending a check failed'));
};

const perform = async (service: SessionNeeds, live: LiveRun, check: Check): Promise<void> => {
  const ran = await runIn(service, live, check);
  const { tree } = await describeWork(service, live.case_id, { diff: false, tree: true });
  const status = statusOf(service, live, ran);
  const run: CheckRun = {
    ...check.run,
    status,
    exit_code: ran.exit_code,
    ended_at: service.store.clock().toISOString(),
    ...(tree !== check.proof.tree && { changed_tree: true }),
  };
  const why = ran.failure === undefined || ran.exit_code !== null ? '' : `\nIt ${ran.failure}.`;
  const met = ran.explained.map((clause) => `\nSandbox: ${clause}.`).join('');
  await storeResult(service.store, check.proof, run, `${ran.output}${why}${met}`);
};

const statusOf = (
  { engine }: SessionNeeds,
  { stopping }: LiveRun,
  { failure }: Ran,
): CheckRun['status'] => {
  if (engine.closing) return 'interrupted';
  if (stopping) return 'aborted';
  return failure === undefined ? 'passed' : 'failed';
};

const NOTHING = { output: '', truncated: false, exit_code: null, not_begun: true, explained: [] };

const runIn = async (
  service: SessionNeeds,
  live: LiveRun,
  { worktree, run: { command } }: Check,
): Promise<Ran> => {
  if (mustStop(service.engine, live)) return { ...NOTHING, failure: 'was not started' };
  live.worktree = worktree.path;
  const spec = {
    ...viewOf(service.store, worktree, { phase: 'work' }),
    run_marker: live.run_marker,
    limits: runLimits(settingsOf(service.store)),
  };
  let program: Program | undefined;
  const out = { argv: ['sh', '-c', command], live: liveOutput(() => undefined, live.session_id) };
  const done = runScript(spec, out, launchDeps(service), (started) => {
    program = started;
  });
  const ended = done.then(() => ({ outcome: 'completed' as const }));
  live.run = plainRun(ended, async () => {
    await program?.end();
    await done;
  });
  return done;
};
