import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** What scrolls. */
export interface Scroller {
  clientHeight: number;
  scrollTop: number;
  focus: () => void;
}

/** How high each row is, in pixels; style/diff.css has it too. */
export const ROW = 20;
const AROUND = 10;

/** Which rows are seen: only they are there. */
export const useVirtual = (count: number, scroller: { current: Scroller | null }, height = ROW) => {
  const [, again] = useReducer((times: number) => times + 1, 0);
  const options = {
    ...{ count, overscan: AROUND, estimateSize: () => height, onChange: () => again(0) },
    ...{ scrollToFn: elementScroll, observeElementRect, observeElementOffset },
    getScrollElement: () => scroller.current as never,
  };
  const [virtual] = useState(() => new Virtualizer(options as never));
  virtual.setOptions(options as never);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
};
