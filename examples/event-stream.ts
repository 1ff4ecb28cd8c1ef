/** Reading server-sent events with fetch alone: used by watch-session.ts and by the demo. */

export interface SessionEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/**
 * The events of a session after the one with the number `after`, as they come. Ends when the daemon ends the stream,
 * which it does after `complete`, and throws when the connection breaks.
 */
export const readEvents = async function* (
  url: string,
  after: number,
): AsyncGenerator<SessionEvent> {
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', 'last-event-id': String(after) },
  });
  if (!response.ok || response.body === null) throw new StreamRefused(await response.text());
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    // A frame without an event is only a sign of life.
    for (const frame of frames) if (/^event:/m.test(frame)) yield parse(frame);
  }
};

/** The daemon answered, and not with a stream: to try again would not help. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused';
}

const parse = (frame: string): SessionEvent => {
  const lines = frame.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line) ?? ['', '', '']);
  const {
    id,
    event = '',
    data = '{}',
  } = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
  return { id: Number(id), event, data: JSON.parse(data) };
};
