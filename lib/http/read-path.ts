import type { Route } from './route.ts';

/** The path of the nearest GET, at or above a call's path, that shows what the call wrote. Undefined if there is none. */
export type FindReadPath = (route: Pick<Route, 'path'>, url: string) => string | undefined;

type Declared = Pick<Route, 'method' | 'path' | 'query'>;

export const readPathFinder = (routes: readonly Declared[]): FindReadPath => {
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

// The whole path first, then the paths above it.
const places = (whole: number): { from: number; length: number }[] =>
  Array.from({ length: whole - 1 }, (_, less) => whole - less).flatMap((length) =>
    STARTS.map((from) => ({ from, length })),
  );

const requiredOf = (query: Route['query']): readonly string[] =>
  (query as { required?: readonly string[] } | undefined)?.required ?? [];

// Some calls below /api write what a GET outside of /api shows, so the first segment may be skipped.
const STARTS = [1, 2];
