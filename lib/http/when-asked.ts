import type { Server, ServerRoute } from '@hapi/hapi';

/**
 * Gives hapi each route when its path is first asked for. hapi takes about a millisecond to accept one, which is most
 * of a start; a running daemon is asked for a few of them.
 */
export const addWhenAsked = <R extends { path: string }>(
  hapi: Server,
  routes: readonly R[],
  make: (route: R) => ServerRoute,
): void => {
  let waiting = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  hapi.ext('onRequest', ({ path }, h) => {
    const asked = waiting.filter(({ pattern }) => pattern.test(path));
    if (asked.length === 0) return h.continue;
    waiting = waiting.filter(({ pattern }) => !pattern.test(path));
    hapi.route(asked.map(({ route }) => make(route)));
    return h.continue;
  });
};

// Whatever hapi may match, and rather more than that: its own router decides.
const patternOf = (path: string): RegExp => {
  const literals = path.split(/\/?\{[^}]*\}/).map((text) => text.replace(/[^\w/-]/g, '\\$&'));
  return new RegExp(`^${literals.join('.*')}$`);
};
