import assert from 'node:assert/strict';
import { parse, visit } from 'graphql';

/** What must never be asked of a code host: each is kept as it came, and answered 500. */
export interface Tripwire {
  touched: string[];
  /** Says whether this request is one, and keeps it. */
  trips(method: string, path: string, body: unknown): boolean;
  assertNeverMerged(): void;
}

// Of GitHub's routes those that merge, move a branch or write a file there.
const PATHS =
  /\/(merge|merges|merge-async|merge-upstream|update-branch|git\/refs(\/.*)?|contents(\/.*)?|branches\/.+\/rename)$/;

/** The mutations that do. */
export const MERGING: ReadonlySet<string> = new Set([
  ...['mergePullRequest', 'mergeBranch', 'enablePullRequestAutoMerge', 'enqueuePullRequest'],
  ...['updatePullRequestBranch', 'createCommitOnBranch', 'revertPullRequest'],
  ...['createRef', 'updateRef', 'updateRefs', 'deleteRef'],
]);

export const openTripwire = (): Tripwire => {
  const touched: string[] = [];
  return {
    touched,
    trips: (method, path, body) => {
      const found = path === '/graphql' ? mergingIn(body) : mergesAt(method, path);
      if (found) touched.push(`${method} ${path}${path === '/graphql' ? ` ${found}` : ''}`);
      return found !== undefined;
    },
    assertNeverMerged: () =>
      assert.deepEqual(touched, [], 'the code host was asked to merge or to move a branch'),
  };
};

const mergesAt = (method: string, path: string): string | undefined => {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const plain = decodedPath(path).replace(/\/+$/, '').toLowerCase();
  return PATHS.test(plain) ? plain : undefined;
};

const decodedPath = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** An alias does not hide a field's name, and a fragment holds it wherever it stands. */
const mergingIn = (body: unknown): string | undefined => {
  const { query } = (body ?? {}) as { query?: unknown };
  const found = new Set<string>();
  try {
    visit(parse(String(query)), {
      Field: ({ name }) => {
        if (MERGING.has(name.value)) found.add(name.value);
      },
    });
  } catch {
    // Not to be read as GraphQL: any mention counts.
    for (const name of MERGING) if (String(query).includes(name)) found.add(name);
  }
  return found.size > 0 ? [...found].join(', ') : undefined;
};
