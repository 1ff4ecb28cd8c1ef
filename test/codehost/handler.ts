import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AsyncGit, asyncGit } from '../helpers/git-workspace.ts';
import { type Answer, type Ask, json } from './rest.ts';
import type { World } from './world.ts';

export type Params = Record<string, string>;

/** One route that the emulated host answers wrongly or not at all. */
export type Handler = (world: World, ask: Ask, params: Params) => Promise<Answer> | Answer;

export type Routes = Readonly<Record<string, Handler>>;

/** What the emulated host answers. */
export const passed = (
  world: World,
  { method, path, query, body, login }: Ask,
): Promise<Answer> => {
  const search = query.size > 0 ? `?${query}` : '';
  return world.emulated.call(method, `${path}${search}`, {
    as: login,
    ...(body === undefined ? {} : { body }),
  });
};

/** The same, with what it lacks. */
export const mending =
  <T>(mend: (world: World, body: T, params: Params) => unknown): Handler =>
  async (world, ask, params) => {
    const answer = await passed(world, ask);
    if (answer.status >= 400) return answer;
    return { ...answer, body: await mend(world, answer.body as T, params) };
  };

/** One page of a list, with the links to the others. */
export const paged = (world: World, { path, query }: Ask, items: readonly unknown[]): Answer => {
  const size = Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30)));
  const page = Math.max(1, Number(query.get('page') ?? 1));
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (n: number, rel: string): string => {
    const search = new URLSearchParams({ ...Object.fromEntries(query), page: String(n) });
    return `<${world.url}${path}?${search}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first')] : []),
  ];
  const headers: Answer['headers'] = links.length > 0 ? { link: links.join(', ') } : {};
  return json(items.slice((page - 1) * size, page * size), 200, headers);
};

export const fullName = ({ owner, repo }: Params): string => `${owner}/${repo}`;

/** git in the bare repository of this name; nothing when none is hosted. */
export const gitOf = (world: World, name: string): AsyncGit | undefined => {
  const hosted = world.repositories.get(name);
  return hosted === undefined ? undefined : asyncGit(hosted.root);
};

/** The commit that a branch, tag or abbreviated id stands for. */
export const commitOf = async (
  world: World,
  name: string,
  ref: string,
): Promise<string | undefined> => {
  const hosted = world.repositories.get(name);
  if (hosted === undefined) return undefined;
  const full = /^refs\/|^[0-9a-f]{40}$/.test(ref) ? ref : `refs/heads/${ref}`;
  const loose = looseRef(hosted.root, full);
  if (loose !== undefined) return loose;
  try {
    return (
      await asyncGit(hosted.root)('rev-parse', '--verify', '--quiet', `${full}^{commit}`)
    ).trim();
  } catch {
    return undefined;
  }
};

/** Most refs of a young repository are files of their own, and a test asks for hundreds. */
const looseRef = (root: string, ref: string): string | undefined => {
  const path = join(root, ref);
  if (!ref.startsWith('refs/') || !existsSync(path) || !statSync(path).isFile()) return undefined;
  const text = readFileSync(path, 'utf8').trim();
  return /^[0-9a-f]{40}$/.test(text) ? text : undefined;
};
