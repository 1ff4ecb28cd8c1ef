import type { LanguageSupport } from '@codemirror/language';

/** What a file is written in. */
interface Written {
  /** How its text is read; loaded when such a file is opened. */
  support?: () => Promise<LanguageSupport>;
  /** The language server that knows it, and what that calls it. */
  server?: 'typescript' | 'javascript' | 'rust';
  as?: string;
}

const script = (of: { jsx?: boolean; typescript?: boolean }) => async () =>
  (await import('@codemirror/lang-javascript')).javascript(of);

const TS: Written = {
  ...{ support: script({ typescript: true }), server: 'typescript', as: 'typescript' },
};
const TSX: Written = {
  ...{ support: script({ typescript: true, jsx: true }), server: 'typescript' },
  as: 'typescriptreact',
};
const JS: Written = {
  ...{ support: script({ jsx: true }), server: 'javascript', as: 'javascript' },
};
const HTML: Written = { support: async () => (await import('@codemirror/lang-html')).html() };
const YAML: Written = { support: async () => (await import('@codemirror/lang-yaml')).yaml() };

const LANGUAGES: Readonly<Record<string, Written>> = {
  ...{ ts: TS, mts: TS, cts: TS, tsx: TSX, js: JS, mjs: JS, cjs: JS },
  jsx: { ...JS, as: 'javascriptreact' },
  rs: {
    support: async () => (await import('@codemirror/lang-rust')).rust(),
    ...{ server: 'rust', as: 'rust' },
  },
  json: { support: async () => (await import('@codemirror/lang-json')).json() },
  css: { support: async () => (await import('@codemirror/lang-css')).css() },
  md: { support: async () => (await import('@codemirror/lang-markdown')).markdown() },
  py: { support: async () => (await import('@codemirror/lang-python')).python() },
  ...{ html: HTML, htm: HTML, yaml: YAML, yml: YAML },
};

/** What a file is written in, by its name. */
export const writtenIn = (path: string): Written => {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, ending) ? (LANGUAGES[ending] as Written) : {};
};
