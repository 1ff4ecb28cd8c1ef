import { showAnswer, showRequest } from './screen.ts';

export interface Client {
  /** Stands for `:id` and the like in the paths, which are shown as the interface writes them. */
  ids: Record<string, string>;
  /** Sends a request, shows it and its answer. An object is sent as JSON, a string as Markdown. */
  call<T>(request: Call, facts?: (answer: T) => string): Promise<T>;
  urlOf(path: string): string;
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object | string;
}

/** Calls the daemon the way a script of yours would: fetch, and nothing else. */
export const createClient = (api: string): Client => {
  const ids: Client['ids'] = {};
  const urlOf = (path: string): string =>
    api + path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? name);
  return {
    ids,
    urlOf,
    call: async <T>({ method, path, body }: Call, facts?: (answer: T) => string): Promise<T> => {
      showRequest(method, path, body);
      const response = await fetch(urlOf(path), { method, ...payload(body) });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      const answer = (isJson ? await response.json() : await response.text()) as T;
      showAnswer(response.status, facts?.(answer));
      return answer;
    },
  };
};

const payload = (body: Call['body']): RequestInit => {
  if (body === undefined) return {};
  if (typeof body === 'string') return { headers: { 'content-type': 'text/markdown' }, body };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
};
