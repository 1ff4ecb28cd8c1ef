import { cut, type ListPage, linkTo, tagOf } from './page.ts';
import { Answer } from './route.ts';

interface Listed {
  id: string;
  json: () => Buffer;
}

const KEPT = 8;
const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/**
 * Lists whose elements are ready JSON. An answer is made once for each version of the data and then sent as it is: a
 * list of a thousand costs as little as a file.
 */
export const createReadyLists = <T>() => {
  let made = { version: -1, answers: new Map<string, Answer<T[]>>() };
  return (
    version: number,
    request: { path: string; query: ListPage },
    list: () => readonly Listed[],
  ): Answer<T[]> => {
    if (made.version !== version || made.answers.size > KEPT)
      made = { version, answers: new Map() };
    const key = JSON.stringify(request.query);
    const answer = made.answers.get(key) ?? compose<T>(request, list());
    made.answers.set(key, answer);
    return answer;
  };
};

const compose = <T>(
  { path, query }: { path: string; query: ListPage },
  all: readonly Listed[],
): Answer<T[]> => {
  const { items, next } = cut(all, query);
  const parts = items.flatMap(({ json }, at) => (at === 0 ? [json()] : [COMMA, json()]));
  const body = Buffer.concat([OPEN, ...parts, CLOSE]);
  const total = { 'x-total-count': String(all.length) };
  return new Answer<T[]>(body, { ...linkTo(path, query, next), ...total }, tagOf(body));
};
