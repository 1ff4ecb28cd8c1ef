/** A line in parts, each with its class. */
export type Pieces = readonly (readonly [kind: string, text: string])[];

interface HighlightRequest {
  language: string;
  lines: string[];
}

interface Side {
  document?: unknown;
  onmessage: (event: { data: HighlightRequest }) => void;
  postMessage: (pieces: Pieces[]) => void;
}

interface Helper {
  onmessage: (event: { data: Pieces[] }) => void;
  postMessage: (request: HighlightRequest) => void;
  terminate: () => void;
}

/** Starts a worker that highlights lines, one request after the other. */
export const startHighlighter = () => {
  const Started = (globalThis as unknown as { Worker: new (url: string, how: object) => Helper })
    .Worker;
  // This module is also the worker's entry point.
  const helper = new Started(import.meta.url, { type: 'module' });
  const pending: ((pieces: Pieces[]) => void)[] = [];
  helper.onmessage = ({ data }) => pending.shift()?.(data);
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

const side = globalThis as unknown as Side & { WorkerGlobalScope?: unknown };
if (side.document === undefined && side.WorkerGlobalScope !== undefined) {
  const lowlight = import('./lowlight.ts').then(({ common, createLowlight }) =>
    createLowlight(common),
  );
  let before: Promise<void> = Promise.resolve();
  side.onmessage = ({ data: { language, lines } }) => {
    before = before.then(async () => {
      const { highlight, registered } = await lowlight;
      const show = (line: string): Pieces =>
        registered(language) ? piecesOf(highlight(language, line) as Node) : [['', line]];
      side.postMessage(lines.map(show));
    });
  };
}
