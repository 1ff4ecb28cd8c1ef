import { type ComponentChildren, isValidElement } from 'preact';
import { visible } from '../../../../store/base/visible.ts';

interface SaidProps {
  /** A piece of the source. */
  source: string;
  /** What is shown for it. Default: the piece itself. */
  as?: string;
}

/** Shows a piece of the source. A rendered block is compared with its source by these pieces. */
export const Said = ({ source, as = source }: SaidProps) => <>{visible(as)}</>;

/** A piece of the source that the browser draws by itself: the number of a list item, the tick of a checkbox. */
export const Drawn = (_: { source: string }) => null;

/** A block that has no other form. */
export const Source = ({ source }: { source: string }) => (
  <div class="as-source">
    <p class="quiet">Shown as source</p>
    <pre class="as-written">{visible(source.replace(/^\n+|\s+$/g, ''))}</pre>
  </div>
);

/** The pieces of the source that an element shows, in their order. */
export const shownOf = (element: ComponentChildren): string => {
  if (Array.isArray(element)) return element.map(shownOf).join('');
  if (!isValidElement(element)) return '';
  const { source, children } = element.props as { source?: string; children?: ComponentChildren };
  return source ?? shownOf(children);
};

// What Markdown marks with, and may be gone from what is shown. Each other character has to be there.
const MARKS = /[\\`*_~#<>|:+=![\]-]/;

/**
 * Where in the source the last piece of what is shown ends; undefined where a character of the source, other than blanks
 * and the marks of Markdown, is not shown. What comes behind the last piece is looked at where `isAll` says so.
 */
export const endOfShown = (source: string, shown: string, isAll = true): number | undefined => {
  const wanted = shown.replace(/\s+/g, '');
  let found = 0;
  for (let at = 0; at < source.length; at += 1) {
    if (found === wanted.length && !isAll) return at;
    const char = source[at] as string;
    if (char === wanted[found]) found += 1;
    else if (!MARKS.test(char) && char.trim() !== '') return undefined;
  }
  return found === wanted.length ? source.length : undefined;
};
