import type { Server, ServerRoute } from '@hapi/hapi';

/** The rest of the routes waits for the first requests, and does not slow down short-lived processes. */
const SETTLED_MS = 2_000;

/**
 * Adds each route to hapi when its path is first requested (the caller passes each path to the returned function), and the
 * rest `settledMs` after the server has started, one for each iteration of the event loop. hapi takes about a millisecond
 * for a route: adding all of them at once would dominate the start.
 */
export const addRoutesLazily = <R extends { path: string }>(
  hapi: Server,
  routes: readonly R[],
  make: (route: R) => ServerRoute,
  settledMs = SETTLED_MS,
): ((path: string) => void) => {
  let waiting = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  const add = (chosen: typeof waiting): void => {
    waiting = waiting.filter((one) => !chosen.includes(one));
    hapi.route(chosen.map(({ route }) => make(route)));
  };
  const addRest = (): void => {
    if (waiting.length === 0) return;
    add(waiting.slice(0, 1));
    setImmediate(addRest);
  };
  let timer: NodeJS.Timeout | undefined;
  hapi.ext('onPostStart', () => {
    timer = setTimeout(addRest, settledMs).unref();
  });
  hapi.ext('onPreStop', () => clearTimeout(timer));
  return (path) => {
    if (waiting.length > 0) add(waiting.filter(({ pattern }) => pattern.test(path)));
  };
};

// Matches at least what hapi's router matches; hapi then decides.
const patternOf = (path: string): RegExp => {
  const literals = path.split(/\/?\{[^}]*\}/).map((text) => text.replace(/[^\w/-]/g, '\\$&'));
  return new RegExp(`^${literals.join('.*')}$`);
};
