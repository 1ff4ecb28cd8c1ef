import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** The height of a row of changes, in pixels. */
export const ROW = 20;
const AROUND = 10;

/** Renders only the visible rows, which all have the same height. */
export const useVirtual = (count: number, box: RefObject<HTMLElement | null>, height = ROW) => {
  const [, retry] = useReducer((times: number) => times + 1, 0);
  const options: VirtualizerOptions<HTMLElement, Element> = {
    count,
    overscan: AROUND,
    estimateSize: () => height,
    onChange: () => retry(0),
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    getScrollElement: () => box.current,
  };
  const [virtual] = useState(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
};
