export interface Frame {
  id?: string;
  event?: string;
  data?: string;
  retry?: number;
}

/**
 * Reads server-sent events (WHATWG HTML, 9.2) from text that comes in pieces, wherever they end: answers the frames that
 * are whole with this piece. One that is cut off is none.
 */
export const frameReader = (): ((text: string) => Frame[]) => {
  let [rest, endsWithCr, frame]: [string, boolean, Frame] = ['', false, {}];
  return (text) => {
    if (text === '') return [];
    // A CR was a line's end at once: what follows it may be the other half of it.
    const more = endsWithCr && text.startsWith('\n') ? text.slice(1) : text;
    endsWithCr = text.endsWith('\r');
    const lines = (rest + more).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? '';
    return lines.flatMap((line) => {
      if (line !== '') take(frame, line);
      const whole = line === '' ? [frame] : [];
      if (line === '') frame = {};
      return whole;
    });
  };
};

const take = (frame: Frame, line: string): void => {
  const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  if (name === 'data') frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
  if (name === 'event') frame.event = value;
  if (name === 'id' && !value.includes('\0')) frame.id = value;
  if (name === 'retry' && /^\d+$/.test(value)) frame.retry = Number(value);
};
