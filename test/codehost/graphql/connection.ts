import { GraphQLError } from 'graphql';

/** An error of the type that GitHub names beside its message. */
export const hostError = (type: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } });

export interface Window {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
}

type Listed<T> = () => Promise<readonly T[]> | readonly T[];

const MOST = 100;

/**
 * A field that pages through a list, and refuses as GitHub does to list all of it. To count it no bounds are needed.
 */
export const connection =
  <T>(name: string, listed: Listed<T>) =>
  async (window: Window) => {
    const all = await listed();
    const bounds = () => cut(window, sizeOf(name, window), all.length);
    return {
      totalCount: all.length,
      nodes: () => all.slice(bounds().start, bounds().end),
      edges: () => {
        const { start, end } = bounds();
        return all.slice(start, end).map((node, n) => ({ node, cursor: cursorOf(start + n) }));
      },
      pageInfo: () => {
        const { start, end } = bounds();
        const edge = (n: number): string | null => (end > start ? cursorOf(n) : null);
        return {
          ...{ hasNextPage: end < all.length, hasPreviousPage: start > 0 },
          ...{ startCursor: edge(start), endCursor: edge(end - 1) },
        };
      },
    };
  };

const cut = (
  { first, after, before }: Window,
  asked: number,
  length: number,
): { start: number; end: number } => {
  const from = after ? numberOf(after) + 1 : 0;
  const to = before ? numberOf(before) : length;
  if (first == null) return { start: Math.max(from, to - asked), end: to };
  return { start: from, end: Math.min(to, from + asked) };
};

const sizeOf = (name: string, { first, last }: Window): number => {
  const size = first ?? last;
  if (size == null) {
    throw hostError(
      'MISSING_PAGINATION_BOUNDARIES',
      `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`,
    );
  }
  if (size > MOST) {
    throw hostError(
      'EXCESSIVE_PAGINATION',
      `Requesting ${size} records on the \`${name}\` connection exceeds the \`first\` limit of ${MOST} records.`,
    );
  }
  return size;
};

const cursorOf = (n: number): string => Buffer.from(`cursor:${n}`).toString('base64');

const numberOf = (cursor: string): number => {
  const [, n] = /^cursor:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
  if (n === undefined) {
    throw hostError(
      'INVALID_CURSOR_ARGUMENTS',
      `\`${cursor}\` does not appear to be a valid cursor.`,
    );
  }
  return Number(n);
};
