import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** The scrolling element. */
export interface Scroller {
  clientHeight: number;
  scrollTop: number;
  focus: () => void;
}

/** The height of a row of changes, in pixels. */
export const ROW = 20;
const AROUND = 10;

/** Renders only the visible rows, which all have the same height. */
export const useVirtual = (count: number, scroller: { current: Scroller | null }, height = ROW) => {
  const [, retry] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    overscan: AROUND,
    estimateSize: () => height,
    onChange: () => retry(0),
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    getScrollElement: () => scroller.current as never,
  };
  const [virtual] = useState(() => new Virtualizer(options as never));
  virtual.setOptions(options as never);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
};
