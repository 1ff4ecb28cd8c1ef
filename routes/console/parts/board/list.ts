import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { browserApi } from '../form.tsx';
import { useVirtual, type VirtualRows } from '../virtual-rows.ts';
import { type Card, type Cards, type CaseFilter, cardsOf, loadMarks } from './cards.ts';

/** The most cards that `cardsOf` loads at once. */
const STEP = 100;

/** A scrolled list of cards that loads more near its end. */
export const useList = (
  first: Cards,
  wanted: CaseFilter,
  size: { height: number; gap: number },
) => {
  const { cards, isMore, more } = useFurtherCards(first, wanted);
  const box = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLAnchorElement>(null);
  const { from, to, ...room } = useRows({ count: cards.length, box, ...size });
  useNearEnd(end, more);
  const shown = cards.slice(from, to).map((card, at) => ({ card, index: from + at }));
  return { shown, isEmpty: cards.length === 0, isMore, box, end, ...room };
};

/** Loads further cards, and keeps them as current as the first page. */
const useFurtherCards = (first: Cards, wanted: CaseFilter) => {
  const [rest, setRest] = useState<Cards>();
  const now = useRef({ first, rest });
  now.current = { first, rest };
  const isBusy = useRef(false);
  const isOld = useRef(false);
  // If the last card left the list, paging starts again from the first page. What is shown stays until then.
  const fetchMore = async (known: readonly Card[], count: number): Promise<void> => {
    isBusy.current = true;
    isOld.current = false;
    const after = known.at(-1)?.id ?? now.current.first.cards.at(-1)?.id;
    const more = await loadCards(wanted, after, count).catch(() => undefined);
    isBusy.current = false;
    if (more !== undefined) setRest({ ...more, cards: [...known, ...more.cards] });
    const isCut = more === undefined && known.length > 0;
    if (isOld.current || isCut) await fetchMore([], known.length + (more?.cards.length ?? 0));
  };
  useEffect(() => {
    const count = now.current.rest?.cards.length ?? 0;
    // A response in flight may predate the change, so it is requested again.
    if (isBusy.current) isOld.current = true;
    else if (count > 0) void fetchMore([], count);
  }, [first]);
  const firstIds = new Set(first.cards.map(({ id }) => id));
  const others = rest?.cards.filter(({ id, state }) => !firstIds.has(id) && fits(state, wanted));
  return {
    cards: [...first.cards, ...(others ?? [])],
    isMore: rest?.isMore ?? first.isMore,
    more: () => {
      if (!isBusy.current) void fetchMore(now.current.rest?.cards ?? [], STEP);
    },
  };
};

const fits = (state: Card['state'], wanted: CaseFilter): boolean =>
  wanted.state === undefined || wanted.state === state;

const loadCards = async (
  wanted: CaseFilter,
  after: string | undefined,
  count: number,
): Promise<Cards> => {
  const marks = await loadMarks(browserApi);
  const found: Cards = { cards: [], total: 0, isMore: true };
  while (found.isMore && found.cards.length < count) {
    const limit = Math.min(count - found.cards.length, STEP);
    const last = found.cards.at(-1)?.id ?? after;
    const { cards, ...of } = await cardsOf(browserApi, wanted, { limit, after: last }, marks);
    Object.assign(found, of);
    found.cards.push(...cards);
  }
  return found;
};

/** Calls `near` when an element comes near the visible area. */
const useNearEnd = (end: RefObject<HTMLElement | null>, near: () => void): void => {
  const now = useRef(near);
  now.current = near;
  useEffect(() => {
    const element = end.current;
    if (element === null) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting === true && now.current(),
      { root: element.parentElement?.closest('.scroll') ?? null, rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  });
};

/** Shorter lists are rendered whole. */
const LONG = 60;

/** The rendered rows, a function that measures each, and the height of the others in pixels. */
const useRows = (rows: VirtualRows) => {
  const { count } = rows;
  const isLong = count > LONG;
  const virtual = useVirtual({ ...rows, enabled: isLong });
  // The first render has the head of the list, as the server's has.
  if (!isLong || virtual.scrollElement === null) return { ...ALL, to: Math.min(count, LONG) };
  const { measureElement: measure } = virtual;
  const seen = virtual.getVirtualItems();
  const height = virtual.getTotalSize();
  const [first, last] = [seen[0], seen.at(-1)];
  if (first === undefined || last === undefined) return { ...ALL, to: 0, after: height, measure };
  const after = Math.max(0, height - last.end);
  return { from: first.index, to: last.index + 1, before: first.start, after, measure };
};

const ALL = { from: 0, before: 0, after: 0, measure: (_row: Element | null) => {} };
