import { existsSync } from 'node:fs';
import { messageOf } from '../../../store/base/attempt.ts';
import { ownValue } from '../../../store/base/own-value.ts';
import type { Data, Dossier } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { counted, snapshotsText } from '../../text/wording.ts';
import { findItem, readCases } from '../connection/find.ts';
import { askYesNo, isTerminal } from '../output/terminal.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/** `dossier worktrees [list|rm ITEM|clean]`: lists worktrees, and removes those where no work would be lost. */
export const worktrees = verb(async (given) => {
  const [name = 'list', item] = given.words;
  const action = ownValue(ACTIONS, name);
  const { force, 'dry-run': dry, shared } = given.values;
  const isGiven =
    action !== undefined &&
    (item !== undefined) === (name === 'rm') &&
    (force === undefined || name === 'rm') &&
    (dry === undefined || name === 'clean') &&
    (shared === undefined || (name === 'clean' && dry === undefined));
  if (!isGiven)
    throw new UsageError(
      'worktrees takes list, rm ITEM [--force], clean [--dry-run], or clean --shared',
    );
  return action(given);
});

const list = async (given: Verb): Promise<undefined> => {
  const { dossier, values, out, typed } = given;
  const known = await dossier.call('GET /api/worktrees');
  if (values.json === true) return void out.json(known);
  const ids = known.map(({ case_id }) => case_id);
  const [titles, uncommitted] = await Promise.all([
    readCases(dossier, ids, 'state,title'),
    dossier.call('GET /api/worktrees/uncommitted'),
  ]);
  const left = new Map(uncommitted.map(({ case_id, files }) => [case_id, files]));
  out.table(
    known
      .filter(({ path, problem }) => path !== undefined || problem !== undefined)
      .map(({ case_id, path, branch, problem }) => {
        const { state = '', title = '' } = titles.get(case_id) ?? {};
        const files = left.get(case_id);
        const told = [
          state,
          ...(path !== undefined && !existsSync(path) ? ['missing'] : []),
          ...(files === undefined ? [] : [counted(files, 'uncommitted file')]),
        ];
        return [case_id.slice(0, 8), told.join(', '), title, branch ?? '', path ?? problem ?? ''];
      }),
  );
  // For people: in a pipe, each line is a worktree.
  const snapshots = out.isTerminal ? await dossier.call('GET /api/worktrees/shared') : [];
  if (snapshots.length > 0)
    out.say(
      `Installed for later worktrees: ${snapshotsText(snapshots)}. Delete them: ${typed('worktrees clean --shared')}`,
    );
};

const remove = async (given: Verb): Promise<undefined> => {
  const { dossier, url, words, values, report, typed } = given;
  const id = await findItem(given, words[1]);
  const id8 = id.slice(0, 8);
  const read = dossier.call('GET /api/cases/{id}/worktree', { id });
  const { path, branch, attached } = await withRefusals(read, { not_found: noWorktree(given, id) });
  const force = values.force === true;
  const lost = `The worktree has uncommitted files or unpushed commits: ${path}. Commit and merge them, or save them under a recovery ref: ${typed(`worktrees rm ${id8} --force`)}`;
  // With force, the daemon names what cannot be saved.
  await withRefusals(
    dossier.call('DELETE /api/cases/{id}/worktree', { id, query: { force } }),
    force ? {} : { work_would_be_lost: lost },
  );
  const back = await savedText(dossier, id, `${url}/dashboard/settings/worktrees/${id}`);
  report(
    { case_id: id, path, branch },
    attached === true
      ? `${path} is no longer the worktree of the Work item. The directory and the branch ${branch} are kept.`
      : `Removed ${path}. The branch ${branch} is kept.${back}`,
  );
};

// The worktree is removed, whether or not its recoveries can be read.
const savedText = async (dossier: Dossier, case_id: string, page: string): Promise<string> => {
  try {
    const saved = await dossier.call('GET /api/worktrees/{case_id}/recoveries', { case_id });
    return saved.length === 0 ? '' : ` Restore saved work: ${page}`;
  } catch (error) {
    return ` Its saved work cannot be listed: ${messageOf(error)} Then see ${page}`;
  }
};

const clean = async (given: Verb): Promise<number | undefined> => {
  const { dossier, values, out } = given;
  if (values.shared === true) return cleanShared(given);
  const isDry = values['dry-run'] === true;
  const isAsked = !isDry && isTerminal() && values.json !== true;
  const wish = { closed: true, dry_run: isDry || isAsked };
  const found = await dossier.call('POST /api/worktrees/cleanup', { body: wish });
  if (values.json === true) return void out.json(found);
  tell(given, found);
  if (!isAsked || found.removed.length === 0) return undefined;
  if (!(await askYesNo('Remove these worktrees? Their branches are kept.'))) {
    out.say('Nothing was removed.');
    return 1;
  }
  const case_ids = found.removed.map(({ case_id }) => case_id);
  const done = await dossier.call('POST /api/worktrees/cleanup', {
    body: { closed: true, case_ids },
  });
  tell(given, done);
};

const cleanShared = async ({ dossier, report }: Verb): Promise<undefined> => {
  const snapshots = await dossier.call('GET /api/worktrees/shared');
  await dossier.call('DELETE /api/worktrees/shared');
  report(
    snapshots,
    snapshots.length === 0
      ? 'There is nothing to delete.'
      : `Deleted ${snapshotsText(snapshots)}. Worktrees keep their copies.`,
  );
};

const tell = ({ out }: Verb, found: Data<'POST /api/worktrees/cleanup'>): void => {
  const { dry_run, removed, skipped } = found;
  out.table([
    ...removed.map(({ case_id, path }) => [
      case_id.slice(0, 8),
      dry_run ? 'would be removed' : 'removed',
      path,
    ]),
    ...skipped.map(({ case_id, reason }) => [case_id.slice(0, 8), 'kept', reason]),
  ]);
  if (removed.length + skipped.length === 0) out.say('There is nothing to remove.');
};

const ACTIONS: Readonly<Record<string, (given: Verb) => Promise<number | undefined>>> = {
  list,
  rm: remove,
  clean,
};
