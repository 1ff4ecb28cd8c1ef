import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { Download } from './route.ts';
import { openLifetime, type Streams } from './sse.ts';

/**
 * Streams a file as it is generated, at the client's speed. A failure before the first byte is answered as a problem; a later
 * one breaks the connection, so that a part is not mistaken for the whole.
 */
export const sendDownload = async (
  download: Download,
  request: Request,
  h: ResponseToolkit,
  streams: Streams,
) => {
  const { res } = request.raw;
  const headers = headersOf(download);
  if (request.method === 'head') {
    res.writeHead(200, headers).end();
    return h.abandon;
  }
  // At the end of its lifetime the connection is destroyed, which aborts the generation.
  const life = openLifetime(request, streams, () => res.destroy());
  const chunks = download.open(life.signal)[Symbol.asyncIterator]();
  try {
    const first = await chunks.next();
    res.writeHead(200, headers);
    void pump(first, chunks, { res, life, log: streams.log });
  } catch (error) {
    streams.open.delete(life);
    if (!life.signal.aborted) throw error;
  }
  return h.abandon;
};

const headersOf = ({ filename, type }: Download): Record<string, string> => ({
  'content-type': type,
  'content-disposition': disposition('attachment', filename),
  'cache-control': 'no-store',
});

/** A Content-Disposition with both forms of the name, because not every client supports `filename*` (RFC 6266). */
export const disposition = (how: 'attachment' | 'inline', filename: string): string => {
  const plain = filename.replace(/[^\w. -]/g, '_');
  const named = `${how}; filename="${plain}"`;
  return plain === filename ? named : `${named}; filename*=UTF-8''${encoded(filename)}`;
};

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

interface Connection {
  res: ServerResponse;
  life: AbortController;
  log: Streams['log'];
}

const pump = async (
  first: IteratorResult<Uint8Array>,
  chunks: AsyncIterator<Uint8Array>,
  { res, life, log }: Connection,
): Promise<void> => {
  const { signal } = life;
  try {
    for (let next = first; next.done !== true; next = await chunks.next())
      if (!res.write(next.value)) await once(res, 'drain', { signal });
    res.end();
  } catch (err) {
    if (!signal.aborted) log.error({ err }, 'download failed');
    life.abort();
  }
  await chunks.return?.();
};
