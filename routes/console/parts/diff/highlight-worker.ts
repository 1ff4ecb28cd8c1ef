/** A line in parts, each with its class. */
export type Pieces = readonly (readonly [kind: string, text: string])[];

interface HighlightRequest {
  language: string;
  lines: string[];
}

/** Starts a worker that highlights lines, one request after the other. */
export const startHighlighter = () => {
  // This module is also the worker's entry point.
  const helper = new Worker(import.meta.url, { type: 'module' });
  const pending: ((pieces: Pieces[]) => void)[] = [];
  helper.onmessage = ({ data }: MessageEvent<Pieces[]>) => pending.shift()?.(data);
  return {
    ask: (request: HighlightRequest) =>
      new Promise<Pieces[]>((answer) => {
        pending.push(answer);
        helper.postMessage(request);
      }),
    end: () => helper.terminate(),
  };
};

interface Node {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
}

const piecesOf = (node: Node, kind = ''): Pieces => {
  if (node.value !== undefined) return [[kind, node.value]];
  const { className } = node.properties ?? {};
  const own = Array.isArray(className) ? className.join(' ') : kind;
  return (node.children ?? []).flatMap((child) => piecesOf(child, own));
};

if ('WorkerGlobalScope' in globalThis && !('document' in globalThis)) {
  const lowlight = import('./lowlight.ts').then(({ common, createLowlight }) =>
    createLowlight(common),
  );
  let before: Promise<void> = Promise.resolve();
  globalThis.onmessage = ({ data: { language, lines } }: MessageEvent<HighlightRequest>) => {
    before = before.then(async () => {
      const { highlight, registered } = await lowlight;
      const show = (line: string): Pieces =>
        registered(language) ? piecesOf(highlight(language, line) as Node) : [['', line]];
      postMessage(lines.map(show));
    });
  };
}
