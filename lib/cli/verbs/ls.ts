import type { Case } from '../../client/client.ts';
import { counted } from '../../text/wording.ts';
import { findOrStartInWorkspace } from '../connection/start.ts';
import { statusText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

// At a terminal. A program gets all: it cannot see that some are missing.
const PAGE = 100;

/** `dossier ls [WORD...]`: lists Work items, newest first. */
export const ls = verb(async ({ dossier, words, values, out, typed }) => {
  const search = words.join(' ');
  const { data, headers } = await dossier.request('GET /cases', {
    query: {
      order: 'newest',
      ...(out.isTerminal && values.json !== true && { limit: PAGE }),
      ...(search !== '' && { search }),
      ...(values.state !== undefined && { state: values.state.toUpperCase() as Case['state'] }),
    },
  });
  const items = data as Case[];
  if (values.json === true) return void out.json(items);
  const [queued, uncommitted] =
    items.length === 0
      ? [[], []]
      : await Promise.all([
          dossier.call('GET /api/sessions/queue'),
          dossier.call('GET /api/worktrees/uncommitted'),
        ]);
  const areOfOne = new Set(items.map(({ project }) => project)).size < 2;
  out.table(
    items.map(({ id, state, title, project, merged }) => {
      const waits = queued.find(({ case_id }) => case_id === id);
      const left = uncommitted.find(({ case_id }) => case_id === id);
      const told = [
        state,
        ...(merged === undefined ? [] : ['merged']),
        ...(waits === undefined ? [] : [statusText(waits)]),
        ...(left === undefined ? [] : [counted(left.files, 'uncommitted file')]),
      ];
      return [id.slice(0, 8), told.join(', '), title, ...(areOfOne ? [] : [project])];
    }),
  );
  const total = Number(headers.get('x-total-count'));
  if (out.isTerminal && total > items.length)
    out.say(`… and ${total - items.length} more: give words of the title, or --state`);
  if (out.isTerminal && total === 0)
    out.say(noneText(typed, [...words, values.state].join('') !== ''));
}, findOrStartInWorkspace);

const noneText = (typed: Verb['typed'], isFiltered: boolean): string =>
  isFiltered
    ? `No Work item matches. List all: ${typed('ls')}`
    : `No Work items. Create one: ${typed('new "TITLE"')}`;
