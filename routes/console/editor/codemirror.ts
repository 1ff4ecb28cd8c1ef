import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { UNSEEN_ONE } from '../../../store/base/visible.ts';

interface Begin {
  parent: HTMLElement;
  text: string;
  path: string;
  nonce: string;
  onChange: () => void;
  onSave: () => void;
  /** Called on Escape, to move the focus out of the editor. */
  onLeave: () => void;
}

/** A text to compare with, and the labels of the buttons for each difference. */
interface OtherText {
  text: string;
  /** Takes the other text's version. */
  reject: string;
  /** Keeps the editor's version. Without it there is no such button. */
  accept?: string;
}

export interface Editor {
  text: () => string;
  /** Replaces the whole text; can be undone. */
  put: (text: string) => void;
  beside: (other: OtherText | undefined) => void;
  extend: (kind: Slot, extension: Extension) => void;
  focus: () => void;
  end: () => void;
}

/** Opens an editor on a text. Unedited text is returned byte for byte. */
export const openEditor = (begin: Begin): Editor => {
  const extensions: Record<Slot, Extension> = { language: [], server: [], beside: [] };
  const stateOf = (text: string) =>
    EditorState.create({
      doc: text,
      extensions: [...baseExtensions(begin, text), ...filled(extensions)],
    });
  const view = new EditorView({ parent: begin.parent, state: stateOf(begin.text) });
  const set = (room: Slot, extension: Extension): void => {
    extensions[room] = extension;
    view.dispatch({ effects: COMPARTMENTS[room].reconfigure(extension) });
  };
  const put = (text: string): void => {
    const { state } = view;
    // A text with other line endings needs a new state.
    if (endOf(text) !== state.lineBreak) view.setState(stateOf(text));
    else view.dispatch({ changes: { from: 0, to: state.doc.length, insert: state.toText(text) } });
  };
  return {
    put,
    extend: set,
    text: () => view.state.sliceDoc(),
    beside: (other) => set('beside', other === undefined ? [] : merging(view.state, other)),
    focus: () => view.focus(),
    end: () => view.destroy(),
  };
};

const COMPARTMENTS = {
  language: new Compartment(),
  server: new Compartment(),
  beside: new Compartment(),
};
type Slot = keyof typeof COMPARTMENTS;

const filled = (extensions: Readonly<Record<Slot, Extension>>): Extension[] =>
  Object.entries(COMPARTMENTS).map(([room, one]) => one.of(extensions[room as Slot]));

// Other line separators stay in their line, as visible characters.
const endOf = (text: string): '\n' | '\r\n' =>
  text.includes('\r\n') && !/\r(?!\n)|(?<!\r)\n/.test(text) ? '\r\n' : '\n';

const baseExtensions = ({ path, nonce, ...on }: Begin, text: string): Extension[] => [
  EditorState.lineSeparator.of(endOf(text)),
  lineNumbers(),
  history(),
  drawSelection(),
  search({ top: true }),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  appearance(nonce),
  highlightSpecialChars({ addSpecialChars: new RegExp(UNSEEN_ONE, 'gu') }),
  EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}` }),
  EditorView.updateListener.of(({ docChanged }) => docChanged && on.onChange()),
  keymap.of([
    { key: 'Mod-s', run: done(on.onSave), preventDefault: true },
    ...[...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap],
    indentWithTab,
    // Last, so that Escape first closes panels of the editor.
    { key: 'Escape', run: done(on.onLeave) },
  ]),
];

const done = (work: () => void) => (): boolean => {
  work();
  return true;
};

const merging = ({ lineBreak }: EditorState, { text, reject, accept }: OtherText): Extension =>
  unifiedMergeView({
    original: Text.of(text.split(lineBreak === '\n' ? '\n' : /\r?\n/)),
    mergeControls: (type, act) => {
      const label = type === 'reject' ? reject : accept;
      const button = document.createElement(label === undefined ? 'span' : 'button');
      button.textContent = label ?? '';
      button.onmousedown = act;
      // The keyboard sends a click without a mouse down.
      button.onclick = (event) => event.detail === 0 && act(event);
      return button;
    },
  });

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

// The variables of the page, which follow the colour scheme.
const highlights = HighlightStyle.define([
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

/** The editor's theme, light and dark. The nonce lets its style sheets pass the page's policy. */
const appearance = (nonce: string): Extension => [
  EditorView.cspNonce.of(nonce),
  EditorView.theme(theme, { dark: matchMedia('(prefers-color-scheme: dark)').matches }),
  syntaxHighlighting(highlights),
];
