import { UsageError } from '../../config.ts';
import { counted, someOf } from '../../text/wording.ts';
import { findItem } from '../connection/find.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/** `dossier pr ITEM`: shows its pull request, or creates it with `--create`. */
export const pr = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const meant = OF_CREATE.find((name) => values[name] !== undefined);
  if (meant !== undefined && values.create !== true)
    throw new UsageError(`--${meant} is only for --create`);
  const id = await findItem(given, words[0]);
  if (values.create === true) return create(given, id);
  const status = await withRefusals(dossier.call('GET /api/cases/{id}/pr/status', { id }), {
    not_found: `The Work item has no pull request yet. Create it: ${given.typed(`pr ${id.slice(0, 8)} --create`)}`,
  });
  if (values.json === true) return void out.json(status);
  const { number, state, url, head_ref, base_ref, checks, review_decision, mergeable } = status;
  out.say({ style: 'bold', text: `#${number} ${state} ${url ?? ''}` });
  out.table([
    ['Branches', `${head_ref} into ${base_ref}`],
    ['Checks', checks ?? 'none'],
    ['Reviews', review_decision?.replaceAll('_', ' ') ?? 'none'],
    ['Mergeable', MERGEABLE[String(mergeable)] ?? ''],
  ]);
  for (const note of status.notes) out.say({ style: 'yellow', text: note });
});

const OF_CREATE = ['draft', 'repository'] as const;

const MERGEABLE: Readonly<Record<string, string>> = {
  true: 'yes',
  false: 'no',
  null: 'unknown yet',
};

const create = async (given: Verb, id: string): Promise<undefined> => {
  const { dossier, values, out, report, typed } = given;
  const id8 = id.slice(0, 8);
  const { draft = false, repository } = values;
  const body = { draft, ...(repository !== undefined && { repository }) };
  const made = await withRefusals(dossier.call('POST /api/cases/{id}/pr/create', { id, body }), {
    not_found: noWorktree(given, id),
    codehost_ambiguous: ({ members: { base, push } }) =>
      `The branch would be pushed to ${push} and proposed to ${base}. Confirm this with --repository ${base}, or name another one`,
    already_exists: `The Work item already has a pull request. Show it: ${typed(`pr ${id8}`)}`,
    uncommitted_changes: ({ members: { files } }) =>
      `Its worktree has uncommitted changes that no completed session made: ${someOf(Array.isArray(files) ? files.map(String) : [])}. Commit or stash the changes there (${typed(`path ${id8}`)}), and try again`,
  });
  report(made, `#${made.number} ${made.state} ${made.url ?? ''}`);
  if (values.json === true) return;
  if (made.committed !== null) out.say(`Committed ${counted(made.committed.files, 'file')}.`);
  const left = made.left_out.map(({ path }) => path);
  if (left.length > 0) out.say({ style: 'yellow', text: `Not committed: ${someOf(left)}` });
  for (const text of made.warnings) out.say({ style: 'yellow', text });
};
