import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { connect } from '../../../../lib/client/client.ts';
import { type Card, type Cards, cardsOf, marksOf, type Wanted } from './cards.ts';

/** As many as `cardsOf` asks about at once. */
const STEP = 100;

/** A list that is scrolled: the cards of it that there are now, and what brings more as one comes near its end. */
export const useList = (first: Cards, wanted: Wanted, size: { height: number; gap: number }) => {
  const { cards, isMore, more } = useMore(first, wanted);
  const box = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLAnchorElement>(null);
  const { from, to, ...room } = useRows({ count: cards.length, box, ...size });
  useNear(end, more);
  const shown = cards.slice(from, to).map((card, at) => ({ card, index: from + at }));
  return { shown, isEmpty: cards.length === 0, isMore, box, end, ...room };
};

/** What more there is of a list is fetched, and kept as new as its first page. */
const useMore = (first: Cards, wanted: Wanted) => {
  const [rest, setRest] = useState<Cards>();
  const now = useRef({ first, rest });
  now.current = { first, rest };
  const isBusy = useRef(false);
  const isOld = useRef(false);
  // One that is no longer in the list is none to go on after: what is there is then asked for from its beginning.
  const fetchMore = async (known: readonly Card[], count: number): Promise<void> => {
    isBusy.current = true;
    isOld.current = false;
    const after = known.at(-1)?.id ?? now.current.first.cards.at(-1)?.id;
    const more = await pages(wanted, after, count).catch(() => undefined);
    isBusy.current = false;
    setRest(more && { ...more, cards: [...known, ...more.cards] });
    if (isOld.current) await fetchMore([], known.length + (more?.cards.length ?? 0));
  };
  useEffect(() => {
    const count = now.current.rest?.cards.length ?? 0;
    // What is on its way may be from before the change: it is asked for again once it is here.
    if (isBusy.current) isOld.current = true;
    else if (count > 0) void fetchMore([], count);
  }, [first]);
  const isFirst = new Set(first.cards.map(({ id }) => id));
  const others = rest?.cards.filter(({ id, state }) => !isFirst.has(id) && fits(state, wanted));
  return {
    cards: [...first.cards, ...(others ?? [])],
    isMore: rest?.isMore ?? first.isMore,
    more: () => {
      if (!isBusy.current) void fetchMore(now.current.rest?.cards ?? [], STEP);
    },
  };
};

const fits = (state: Card['state'], wanted: Wanted): boolean =>
  wanted.state === undefined || wanted.state === state;

const pages = async (wanted: Wanted, after: string | undefined, count: number): Promise<Cards> => {
  const api = connect({ url: '' });
  const marks = await marksOf(api);
  const found: Cards = { cards: [], total: 0, isMore: true };
  while (found.isMore && found.cards.length < count) {
    const limit = Math.min(count - found.cards.length, STEP);
    const last = found.cards.at(-1)?.id ?? after;
    const { cards, ...of } = await cardsOf(api, wanted, { limit, after: last }, marks);
    Object.assign(found, of);
    found.cards.push(...cards);
  }
  return found;
};

/** Calls when an element comes near to what is seen. */
const useNear = (end: RefObject<HTMLElement | null>, near: () => void): void => {
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

interface Rows {
  count: number;
  /** How high a row is, about, in pixels. */
  height: number;
  /** What is between two rows, in pixels. */
  gap: number;
  /** What the rows are scrolled in. */
  box: RefObject<HTMLElement | null>;
}

/** Which rows of a long list there are now, and how much room is before and after them, in pixels. */
interface Seen {
  from: number;
  to: number;
  before: number;
  after: number;
  /** Of each row that is there: it is as high as it is. */
  measure: (row: Element | null) => void;
}

/** Shorter lists are there whole. */
const LONG = 60;

/** What is seen of a list that is long. The first showing has the head of it, as the server's. */
const useRows = (rows: Rows): Seen => {
  const { count } = rows;
  const [, draw] = useState({});
  const kept = useRef<Virtual>(null);
  const options = optionsOf(rows, () => draw({}));
  const isLong = count > LONG;
  useLayoutEffect(() => {
    if (!isLong) return;
    const virtual = new Virtualizer(options);
    kept.current = virtual;
    const end = virtual._didMount();
    draw({});
    return () => {
      end();
      kept.current = null;
    };
  }, [isLong]);
  const virtual = kept.current;
  virtual?.setOptions(options);
  useLayoutEffect(() => virtual?._willUpdate());
  return virtual === null ? { ...ALL, to: Math.min(count, LONG) } : seenOf(virtual);
};

type Virtual = Virtualizer<HTMLElement, Element>;

const ALL = { from: 0, before: 0, after: 0, measure: () => {} };

const seenOf = (virtual: Virtual): Seen => {
  const seen = virtual.getVirtualItems();
  const [first, last] = [seen[0], seen.at(-1)];
  const { measureElement: measure } = virtual;
  const height = virtual.getTotalSize();
  if (first === undefined || last === undefined) return { ...ALL, to: 0, after: height, measure };
  const after = Math.max(0, height - last.end);
  return { from: first.index, to: last.index + 1, before: first.start, after, measure };
};

const optionsOf = (
  { count, height, gap, box }: Rows,
  draw: () => void,
): VirtualizerOptions<HTMLElement, Element> => ({
  ...{ count, gap, overscan: 6, scrollToFn: elementScroll },
  ...{ observeElementRect, observeElementOffset },
  getScrollElement: () => box.current,
  estimateSize: () => height,
  onChange: draw,
});
