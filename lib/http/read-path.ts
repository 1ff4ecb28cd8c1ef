import type { Route } from './route.ts';

/** What shows what a call wrote: the path of the nearest GET at or above it. Undefined where there is none. */
export type WhereToRead = (route: Pick<Route, 'path'>, url: string) => string | undefined;

type Declared = Pick<Route, 'method' | 'path' | 'query'>;

export const whereToRead = (routes: readonly Declared[]): WhereToRead => {
  const gets = routes.filter(({ method }) => method === 'GET');
  const needs = new Map(gets.map(({ path, query }) => [path, requiredOf(query)]));
  return ({ path }, url) => {
    const declared = path.split('/');
    const [, way = '', query = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
    const asked = way.split('/');
    const given = new URLSearchParams(query);
    const at = places(declared.length).find(({ from, length }) =>
      needs.get(partOf(declared, from, length))?.every((name) => given.has(name)),
    );
    if (at === undefined) return undefined;
    const needsQuery = needs.get(partOf(declared, at.from, at.length))?.length !== 0;
    return `${partOf(asked, at.from, at.length)}${needsQuery ? query : ''}`;
  };
};

const partOf = (names: readonly string[], from: number, length: number): string =>
  `/${names.slice(from, length).join('/')}`;

// The whole path first, then what is above it.
const places = (whole: number): { from: number; length: number }[] =>
  Array.from({ length: whole - 1 }, (_, less) => whole - less).flatMap((length) =>
    STARTS.map((from) => ({ from, length })),
  );

const requiredOf = (query: Route['query']): readonly string[] =>
  (query as { required?: readonly string[] } | undefined)?.required ?? [];

// Of what some paths below /api write, others tell that are not below it.
const STARTS = [1, 2];
