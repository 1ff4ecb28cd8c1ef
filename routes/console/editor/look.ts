import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const theme = {
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--page)', fontSize: '12px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)' },
  '.cm-gutters': {
    backgroundColor: 'var(--raised)',
    color: 'var(--quiet)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)',
  },
  '.cm-panels, .cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-panels': { fontFamily: 'inherit' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--page)',
    backgroundImage: 'none',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-lsp-hover-tooltip, .cm-completionInfo': {
    maxWidth: '36rem',
    padding: '0.4rem 0.6rem',
    whiteSpace: 'pre-wrap',
  },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLine, .cm-changedLine, &.cm-merge-b .cm-inlineChangedLine': {
    backgroundColor: 'var(--add)',
  },
  '.cm-deletedChunk': { backgroundColor: 'var(--gone)', paddingLeft: '6px' },
  '&.cm-merge-b .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--text) 14%, transparent)',
  },
  '.cm-deletedChunk .cm-chunkButtons': { position: 'sticky', insetInlineEnd: '0.4rem' },
};

// By the variables of the page: they know whether it is dark.
const shades = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.self], color: 'var(--shade-word)' },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: 'var(--shade-text)' },
  {
    tag: [
      tags.function(tags.variableName),
      tags.definition(tags.variableName),
      tags.typeName,
      tags.className,
      tags.propertyName,
      tags.attributeName,
      tags.tagName,
    ],
    color: 'var(--shade-name)',
  },
  { tag: [tags.number, tags.meta, tags.atom, tags.labelName], color: 'var(--shade-value)' },
  { tag: tags.comment, color: 'var(--quiet)' },
  { tag: tags.heading, fontWeight: 'bold', color: 'var(--shade-name)' },
  { tag: tags.link, textDecoration: 'underline' },
  { tag: tags.strong, fontWeight: 'bold' },
  { tag: tags.emphasis, fontStyle: 'italic' },
]);

/** How the editor looks: as the page does, light and dark. The nonce is of the page's policy, for its sheets. */
export const looks = (nonce: string): Extension => [
  EditorView.cspNonce.of(nonce),
  EditorView.theme(theme, { dark: matchMedia('(prefers-color-scheme: dark)').matches }),
  syntaxHighlighting(shades),
];
