import type { Route } from './route.ts';

/** What shows what a call wrote: the path of the nearest GET at or above it. Undefined where there is none. */
export type WhereToRead = (route: Pick<Route, 'path'>, url: string) => string | undefined;

export const whereToRead = (routes: readonly Pick<Route, 'method' | 'path'>[]): WhereToRead => {
  const readable = new Set(routes.flatMap(({ method, path }) => (method === 'GET' ? path : [])));
  return ({ path }, url) => {
    const declared = path.split('/');
    const asked = url.replace(/\?.*$/s, '').split('/');
    for (let length = declared.length; length > 1; length -= 1)
      for (const from of STARTS) {
        const one = `/${declared.slice(from, length).join('/')}`;
        if (readable.has(one)) return `/${asked.slice(from, length).join('/')}`;
      }
    return undefined;
  };
};

// Of what some paths below /api write, others tell that are not below it.
const STARTS = [1, 2];
