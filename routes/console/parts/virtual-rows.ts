import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

export interface VirtualRows {
  count: number;
  /** The height of a row in pixels. For rows that are measured once rendered, an estimate. */
  height: number;
  /** The gap between rows in pixels. */
  gap?: number;
  /** The scrolling element. */
  box: RefObject<HTMLElement | null>;
  /** False for a list that is rendered whole. */
  enabled?: boolean;
}

const AROUND = 10;

/** Renders only the rows of a long list that are visible. */
export const useVirtual = ({ height, box, ...rest }: VirtualRows) => {
  const [, draw] = useState({});
  const options: VirtualizerOptions<HTMLElement, Element> = {
    ...rest,
    overscan: AROUND,
    estimateSize: () => height,
    onChange: () => draw({}),
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
