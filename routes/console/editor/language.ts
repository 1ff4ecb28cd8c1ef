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
import { visible } from '../../../store/base/visible.ts';
import type { Api } from '../common/page.ts';
import { toldOf } from '../common/send-form.ts';

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

interface Asked {
  id: string;
  /** The worktree. */
  root: string;
  path: string;
  language: 'typescript' | 'javascript' | 'rust';
  as: string;
  /** The server went, and why, as far as that is known. */
  onGone: (why: string) => void;
}

export interface Serving {
  /** For the editor of this file. */
  extension: Extension;
  leave: () => void;
}

/** Connects an editor with the language server of a worktree. Throws the sentence that says why there is none. */
export const serve = async ({ call }: Api, asked: Asked): Promise<Serving> => {
  const { id, language, root, path, as, onGone } = asked;
  // A page is told nothing of why a socket was refused: this call tells it.
  await call('POST /lsp/{language}/message', {
    ...{ language, query: { case_id: id } },
    body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
  }).catch((error: unknown) => {
    throw new Error(toldOf(error).detail);
  });
  const socket = await opened(`/lsp/${language}/ws?case_id=${id}`);
  const client = new LSPClient({
    ...{ rootUri: uriOf(root), timeout: 30_000, sanitizeHTML: asText },
    extensions: [serverCompletion(), hoverTooltips(), signatureHelp(), serverDiagnostics()],
  });
  socket.addEventListener('close', ({ reason }) => onGone(reason));
  client.connect(overSocket(socket));
  await client.initializing;
  const isAsked = client.serverCapabilities?.diagnosticProvider !== undefined;
  return {
    extension: [client.plugin(uriOf(`${root}/${path}`), as), isAsked ? asking : []],
    leave: () => {
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
  const hearers = new Set<(message: string) => void>();
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    for (const hear of hearers) hear(data);
  });
  return {
    send: (message) => socket.send(message),
    subscribe: (hear) => void hearers.add(hear),
    unsubscribe: (hear) => void hearers.delete(hear),
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

// Some servers, such as TypeScript's own, tell what is wrong only to those who ask.
const asking = linter(async (view: EditorView): Promise<Diagnostic[]> => {
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
 * What a language server says of a file, as text: it is made of the file's own words, which anybody wrote. Of the HTML that
 * it was made into only what its Markdown was is taken away; all else is shown as it is written, and no element is left.
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
