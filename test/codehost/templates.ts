export interface Matched<T> {
  value: T;
  template: string;
  params: Record<string, string>;
}

/** Finds a method and path in a table by `get /repos/{owner}/{repo}`, and what stood in the braces. */
export const matcher = <T>(
  table: Readonly<Record<string, T>>,
): ((method: string, path: string) => Matched<T> | undefined) => {
  const known = Object.entries(table).map(([key, value]) => {
    const [method = '', template = ''] = key.split(' ');
    return { method, template, value, pattern: expression(template) };
  });
  return (method, path) => {
    for (const { method: wanted, template, value, pattern } of known) {
      if (wanted !== method.toLowerCase()) continue;
      const groups = pattern.exec(path)?.groups;
      if (groups !== undefined) return { value, template, params: decoded(groups) };
    }
    return undefined;
  };
};

/** The place of a number in it: `/repos/{owner}/{repo}/issues/{}`, for reading a list of requests. */
export const routeOf = (path: string): string =>
  path
    .replace(/^\/(?:repos\/[^/]+\/[^/]+|repositories\/\d+)/, '/repos/{owner}/{repo}')
    .replace(/\/\d+(?=\/|$)/g, '/{}');

// What may hold slashes; a number is nothing but digits, so that `comments` is none.
const LONG = new Set(['ref', 'branch', 'path', 'basehead']);
const NUMBERS = /_number$|_id$/;

const expression = (template: string): RegExp => {
  const pattern = template.replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${part(name)})`);
  return new RegExp(`^(?<_>)${pattern}$`);
};

const part = (name: string): string => {
  if (LONG.has(name)) return '.+';
  return NUMBERS.test(name) ? '\\d+' : '[^/]+';
};

const decoded = (groups: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
  );
