import type { AttentionItem, Case, Session } from '../../../../lib/client/client.ts';
import type { Api, At } from '../../common/page.ts';
import { STATES } from '../frames.tsx';

export type State = Case['state'];

/** What of a Work item stands on the board. */
export interface Card
  extends Pick<Case, 'id' | 'title' | 'type' | 'state' | 'project' | 'created_at' | 'updated_at'> {
  /** Of the session that has not ended, else of the newest. */
  status?: Session['status'];
  /** What of it needs the operator. */
  waits?: AttentionItem['kind'][];
}

/** Those that match, as far as a page of them reaches. */
export interface Cards {
  cards: Card[];
  /** How many match. */
  total: number;
  isMore: boolean;
}

/** What is looked for. */
export interface Wanted {
  state?: State;
  type?: string;
  project?: string;
  search?: string;
  ids?: string;
  order?: 'oldest' | 'newest';
}

/** What the address says is looked for, without what could not be. */
export const wantedOf = ({ query }: At): Wanted => {
  const { state = '', type = '', project = '', search = '', order } = query;
  return {
    ...(state in STATES && { state: state as State }),
    ...(type !== '' && { type }),
    ...(project !== '' && { project }),
    ...(search.trim() !== '' && { search: search.trim() }),
    order: order === 'oldest' ? 'oldest' : 'newest',
  };
};

/** What is going on with Work items, by id: all that is told of those where something is. */
export type Marks = ReadonlyMap<string, Pick<Card, 'status' | 'waits'>>;

export const marksOf = async ({ call }: Api): Promise<Marks> => {
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

const FIELDS = 'title,type,state,project,created_at,updated_at';

/** A page of those that are wanted, with what is going on with each. */
export const cardsOf = async (
  { request, call }: Api,
  wanted: Wanted,
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

/** Lists that were asked for one beside the other: what was moved meanwhile is only where it is now. */
export const eachOnce = <T extends { of: Cards }>(lists: readonly T[]): T[] => {
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
