import type { LanguageSupport } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import {
  hoverTooltips,
  LSPClient,
  LSPPlugin,
  serverCompletion,
  serverDiagnostics,
  signatureHelp,
  type Transport,
} from '@codemirror/lsp-client';
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { ownValue } from '../../../store/base/own-value.ts';
import { visible } from '../../../store/base/visible.ts';
import { problemSummary } from '../common/send-form.ts';
import { browserApi } from '../parts/form.tsx';

/** The support for a language. */
interface Language {
  /** Loads the syntax support. */
  support?: () => Promise<LanguageSupport>;
  /** The language server, and the server's id of the language. */
  server?: 'typescript' | 'javascript' | 'rust';
  as?: string;
}

const script = (of: { jsx?: boolean; typescript?: boolean }) => async () =>
  (await import('@codemirror/lang-javascript')).javascript(of);

const TS: Language = {
  support: script({ typescript: true }),
  server: 'typescript',
  as: 'typescript',
};
const TSX: Language = {
  support: script({ typescript: true, jsx: true }),
  server: 'typescript',
  as: 'typescriptreact',
};
const JS: Language = {
  support: script({ jsx: true }),
  server: 'javascript',
  as: 'javascript',
};
const HTML: Language = { support: async () => (await import('@codemirror/lang-html')).html() };
const YAML: Language = { support: async () => (await import('@codemirror/lang-yaml')).yaml() };

const LANGUAGES: Readonly<Record<string, Language>> = {
  ts: TS,
  mts: TS,
  cts: TS,
  tsx: TSX,
  js: JS,
  mjs: JS,
  cjs: JS,
  jsx: { ...JS, as: 'javascriptreact' },
  rs: {
    support: async () => (await import('@codemirror/lang-rust')).rust(),
    server: 'rust',
    as: 'rust',
  },
  json: { support: async () => (await import('@codemirror/lang-json')).json() },
  css: { support: async () => (await import('@codemirror/lang-css')).css() },
  md: { support: async () => (await import('@codemirror/lang-markdown')).markdown() },
  py: { support: async () => (await import('@codemirror/lang-python')).python() },
  html: HTML,
  htm: HTML,
  yaml: YAML,
  yml: YAML,
};

/** The language of a file, by its extension. */
export const languageOf = (path: string): Language => {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return ownValue(LANGUAGES, ending) ?? {};
};

interface ServerOptions {
  id: string;
  /** The path of the worktree. */
  root: string;
  path: string;
  language: 'typescript' | 'javascript' | 'rust';
  as: string;
  /** Called when the server ends, with the reason if known. */
  onGone: (why: string) => void;
}

export interface LanguageServer {
  /** Connects the editor of this file. */
  extension: Extension;
  disconnect: () => void;
}

/** Connects to the language server of a worktree. Throws an error whose message says why there is none. */
export const startLanguageServer = async (asked: ServerOptions): Promise<LanguageServer> => {
  const { id, language, root, path, as, onGone } = asked;
  // A page cannot read why a WebSocket was refused; this call reports it.
  await browserApi
    .call('POST /lsp/{language}/message', {
      language,
      query: { case_id: id },
      body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
    })
    .catch((error: unknown) => {
      throw new Error(problemSummary(error).detail);
    });
  const socket = await opened(`/lsp/${language}/ws?case_id=${id}`);
  const client = new LSPClient({
    rootUri: uriOf(root),
    timeout: 30_000,
    sanitizeHTML: asText,
    extensions: [serverCompletion(), hoverTooltips(), signatureHelp(), serverDiagnostics()],
  });
  socket.addEventListener('close', ({ reason }) => onGone(reason));
  client.connect(overSocket(socket));
  await client.initializing;
  const isAsked = client.serverCapabilities?.diagnosticProvider !== undefined;
  return {
    extension: [client.plugin(uriOf(`${root}/${path}`), as), isAsked ? pullDiagnostics : []],
    disconnect: () => {
      client.disconnect();
      socket.close();
    },
  };
};

const opened = (path: string): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}`);
    socket.onopen = () => resolve(socket);
    socket.onerror = () => reject(new Error('The language server could not be reached.'));
  });

const overSocket = (socket: WebSocket): Transport => {
  const listeners = new Set<(message: string) => void>();
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    for (const listener of listeners) listener(data);
  });
  return {
    send: (message) => socket.send(message),
    subscribe: (listener) => void listeners.add(listener),
    unsubscribe: (listener) => void listeners.delete(listener),
  };
};

const uriOf = (path: string): string =>
  `file://${path.split('/').map(encodeURIComponent).join('/')}`;

interface Report {
  items?: {
    range: { start: Place; end: Place };
    severity?: number;
    message: string;
  }[];
}

interface Place {
  line: number;
  character: number;
}

const SEVERITIES = ['error', 'error', 'warning', 'info', 'hint'] as const;

// Some servers, such as TypeScript's, report diagnostics only on request.
const pullDiagnostics = linter(async (view: EditorView): Promise<Diagnostic[]> => {
  const plugin = LSPPlugin.get(view);
  if (plugin === null) return [];
  const { client, uri } = plugin;
  client.sync();
  const asked = { textDocument: { uri } };
  const report = await client
    .request<typeof asked, Report | null>('textDocument/diagnostic', asked)
    .catch(() => null);
  return (report?.items ?? []).map(({ range, severity = 1, message }) => ({
    from: plugin.fromPosition(range.start),
    to: plugin.fromPosition(range.end),
    severity: SEVERITIES[severity] ?? 'error',
    message: visible(message),
  }));
});

/**
 * Turns a language server's HTML into escaped text. It contains words of the file, which are untrusted: only tags
 * that its Markdown produced are removed, everything else is escaped.
 */
export const asText = (html: string): string =>
  visible(html)
    .replace(/<br>/g, '\n')
    .replace(OF_MARKDOWN, '')
    .replaceAll('<', '&lt;')
    .replace(/&(?!(?:amp|lt|gt|quot|#39);)/g, '&amp;')
    .trim();

const OF_MARKDOWN =
  /<\/?(?:p|pre|code|em|strong|ul|ol|li|h[1-6]|hr|blockquote)>|<code class="language-\w+">|<a href="[^"<>]*">|<\/a>|<\/?span(?: class="[\w -]+")?>/g;
