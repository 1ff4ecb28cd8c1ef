import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

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
export interface Seen {
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
export const useRows = (rows: Rows): Seen => {
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
