import type { AttentionItem, Case, Session } from '../../../../lib/client/client.ts';
import type { Api, At } from '../../common/page.ts';
import { STATE_LABELS } from '../labels.ts';

export type State = Case['state'];

/** A Work item, as the board shows it. */
export interface Card
  extends Pick<
    Case,
    'id' | 'title' | 'type' | 'state' | 'project' | 'merged' | 'created_at' | 'updated_at'
  > {
  /** The status of the open session, or else of the newest. */
  status?: Session['status'];
  /** The kinds of its inbox items. */
  waits?: AttentionItem['kind'][];
}

/** A page of matching Work items. */
export interface Cards {
  cards: Card[];
  /** The number of all matches. */
  total: number;
  isMore: boolean;
}

/** The filter of the board. */
export interface CaseFilter {
  state?: State;
  type?: string;
  project?: string;
  search?: string;
  ids?: string;
  order?: 'oldest' | 'newest';
}

/** Reads the filter from the address. Invalid values are ignored. */
export const filterOf = ({ query }: At): CaseFilter => {
  const { state = '', type = '', project = '', search = '', order } = query;
  return {
    ...(state in STATE_LABELS && { state: state as State }),
    ...(type !== '' && { type }),
    ...(project !== '' && { project }),
    ...(search.trim() !== '' && { search: search.trim() }),
    order: order === 'oldest' ? 'oldest' : 'newest',
  };
};

/** Session status and inbox items by Work item. */
export type Marks = ReadonlyMap<string, Pick<Card, 'status' | 'waits'>>;

export const loadMarks = async ({ call }: Api): Promise<Marks> => {
  const [attention, active, queued] = await Promise.all([
    call('GET /attention'),
    call('GET /api/sessions/active'),
    call('GET /api/sessions/queue'),
  ]);
  const marks = new Map<string, Pick<Card, 'status' | 'waits'>>();
  const markOf = (id: string) => {
    const mark = marks.get(id) ?? {};
    marks.set(id, mark);
    return mark;
  };
  for (const { case_id, status } of [...queued, ...active]) markOf(case_id).status = status;
  for (const { case_id, kind } of attention) {
    if (case_id === undefined) continue;
    const mark = markOf(case_id);
    mark.waits = [...new Set([...(mark.waits ?? []), kind])];
  }
  return marks;
};

const FIELDS = 'title,type,state,project,merged,created_at,updated_at';

/** Loads a page of matching cards with their marks. */
export const cardsOf = async (
  { request, call }: Api,
  wanted: CaseFilter,
  page: { limit: number; after?: string | undefined },
  marks: Marks,
): Promise<Cards> => {
  const { limit, after } = page;
  const query = { ...wanted, fields: FIELDS, limit, ...(after !== undefined && { after }) };
  const { data, headers } = await request('GET /cases', { query });
  const found = data as Card[];
  const case_ids = found.map(({ id }) => id).join();
  const newest =
    found.length === 0 ? [] : await call('GET /api/sessions/newest', { query: { case_ids } });
  const ended = new Map(newest.map(({ case_id, status }) => [case_id, { status }]));
  return {
    cards: found.map((card) => ({ ...card, ...ended.get(card.id), ...marks.get(card.id) })),
    total: Number(headers.get('x-total-count')),
    isMore: headers.get('link') !== null,
  };
};

/** The lists are loaded in parallel, so a card that moved meanwhile may be in two: only its newest version stays. */
export const withoutDuplicates = <T extends { of: Cards }>(lists: readonly T[]): T[] => {
  const newest = new Map<string, Card>();
  for (const card of lists.flatMap(({ of }) => of.cards)) {
    const other = newest.get(card.id);
    if (other === undefined || other.updated_at < card.updated_at) newest.set(card.id, card);
  }
  return lists.map((list) => {
    const cards = list.of.cards.filter((card) => newest.get(card.id) === card);
    return { ...list, of: { ...list.of, cards } };
  });
};
