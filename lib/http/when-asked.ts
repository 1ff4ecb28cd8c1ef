import type { Server, ServerRoute } from '@hapi/hapi';

/**
 * Gives hapi each route when its path is first asked for, which it is told of by what this answers, and the rest once the server has started, one in each turn of
 * the event loop. hapi takes about a millisecond to accept one: all of them at once would be most of a start.
 */
export const addWhenAsked = <R extends { path: string }>(
  hapi: Server,
  routes: readonly R[],
  make: (route: R) => ServerRoute,
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
  hapi.ext('onPostStart', addRest);
  return (path) => {
    if (waiting.length > 0) add(waiting.filter(({ pattern }) => pattern.test(path)));
  };
};

// Whatever hapi may match, and rather more than that: its own router decides.
const patternOf = (path: string): RegExp => {
  const literals = path.split(/\/?\{[^}]*\}/).map((text) => text.replace(/[^\w/-]/g, '\\$&'));
  return new RegExp(`^${literals.join('.*')}$`);
};
