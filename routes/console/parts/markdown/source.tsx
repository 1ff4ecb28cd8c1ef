import { type ComponentChildren, isValidElement } from 'preact';
import { visible } from '../../../../store/base/visible.ts';

interface SaidProps {
  /** A part of the source. */
  source: string;
  /** The text shown for it. Default: the source. */
  as?: string;
}

/** Shows a part of the source. `shownSource` collects these parts to compare them with the source of a block. */
export const SourceText = ({ source, as = source }: SaidProps) => <>{visible(as)}</>;

/** A part of the source that the browser draws: a list number or a checkbox. */
export const BrowserDrawn = (_: { source: string }) => null;

/** A block shown as source. */
export const SourceBlock = ({ source }: { source: string }) => (
  <div class="as-source">
    <p class="quiet">Shown as source</p>
    <pre class="as-written">{visible(source.replace(/^\n+|\s+$/g, ''))}</pre>
  </div>
);

/** The parts of the source that an element shows, in order. */
export const shownSource = (element: ComponentChildren): string => {
  if (Array.isArray(element)) return element.map(shownSource).join('');
  if (!isValidElement(element)) return '';
  const { source, children } = element.props as { source?: string; children?: ComponentChildren };
  return source ?? shownSource(children);
};

// Characters of Markdown's syntax, which may be missing in what is shown. All others must be there.
const MARKDOWN_SYNTAX = /[\\`*_~#<>|:+=![\]-]/;

/**
 * The end of the last shown part in the source; undefined if a character is not shown that is neither blank nor
 * syntax. With `isAll` the rest of the source is checked too.
 */
export const endOfShownSource = (
  source: string,
  shown: string,
  isAll = true,
): number | undefined => {
  const wanted = shown.replace(/\s+/g, '');
  let found = 0;
  for (let at = 0; at < source.length; at += 1) {
    if (found === wanted.length && !isAll) return at;
    const char = source[at] as string;
    if (char === wanted[found]) found += 1;
    else if (!MARKDOWN_SYNTAX.test(char) && char.trim() !== '') return undefined;
  }
  return found === wanted.length ? source.length : undefined;
};
