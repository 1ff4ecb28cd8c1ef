export interface Capped {
  output: string;
  truncated: boolean;
}

/** Keeps the beginning and the end of a text that is longer than `limit` characters, and notes how much is left out. */
export const capText = (text: string, limit: number): Capped => {
  if (text.length <= limit) return { output: text, truncated: false };
  const half = Math.floor(limit / 2);
  const tail = text.slice(text.length - half);
  return { output: join(text.slice(0, half), text.length - 2 * half, tail), truncated: true };
};

/** The same for output that arrives in pieces; buffers at most twice the limit. */
export const createCappedOutput = (limit: number) => {
  const half = Math.floor(limit / 2);
  let head = '';
  let tail = '';
  let length = 0;
  return {
    add: (chunk: string): void => {
      const room = Math.max(0, limit - half - head.length);
      head += chunk.slice(0, room);
      tail += chunk.slice(room);
      if (tail.length > 2 * half) tail = tail.slice(tail.length - half);
      length += chunk.length;
    },
    read: (): Capped => {
      const end = tail.slice(Math.max(0, tail.length - half));
      const missing = length - head.length - end.length;
      if (missing === 0) return { output: head + end, truncated: false };
      return { output: join(head, missing, end), truncated: true };
    },
  };
};

/** A value from a program, or if its JSON exceeds 16 KiB, the beginning and the end of the JSON text. */
export const capRaw = (raw: unknown): unknown => {
  const json = JSON.stringify(raw) ?? '';
  return json.length <= RAW_LIMIT ? raw : capText(json, RAW_LIMIT).output;
};

const RAW_LIMIT = 16_384;

const join = (head: string, missing: number, tail: string): string =>
  `${head}\n[… ${missing} characters left out …]\n${tail}`;
