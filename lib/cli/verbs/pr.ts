import { UsageError } from '../../config.ts';
import { itemOf } from '../connection/item.ts';
import { noWorktree, orRefuse, type Verb, verb } from './verb.ts';

/** `dossier pr ITEM`: how its pull request stands; `--create` makes it. */
export const pr = verb(async (given) => {
  const { dossier, words, values, out } = given;
  if (values.draft === true && values.create !== true)
    throw new UsageError('--draft belongs to --create');
  const id = await itemOf(dossier, words[0] ?? '');
  if (values.create === true) return create(given, id);
  const status = await orRefuse(dossier.call('GET /api/cases/{id}/pr/status', { id }), {
    not_found: `It has no pull request yet: dossier pr ${id.slice(0, 8)} --create makes it`,
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
  return undefined;
});

const MERGEABLE: Readonly<Record<string, string>> = {
  true: 'yes',
  false: 'no',
  null: 'not known yet',
};

const create = async ({ dossier, values, out }: Verb, id: string): Promise<undefined> => {
  const [id8, body] = [id.slice(0, 8), { draft: values.draft === true }];
  const made = await orRefuse(dossier.call('POST /api/cases/{id}/pr/create', { id, body }), {
    not_found: noWorktree(id8),
    already_exists: `It has a pull request: dossier pr ${id8} shows it`,
    uncommitted_changes: `Its worktree has changes that are not as the last completed session left them: commit them there, or put them aside (dossier path ${id8}), and call this again`,
  });
  if (values.json === true) return void out.json(made);
  out.say(`#${made.number} ${made.state} ${made.url ?? ''}`);
  return undefined;
};
