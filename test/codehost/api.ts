import { actionRoutes } from './actions.ts';
import { checkRoutes } from './checks.ts';
import { passed } from './handler.ts';
import { issueRoutes } from './issues.ts';
import { pullRoutes } from './pulls.ts';
import { repositoryRoutes } from './repositories.ts';
import { type Answer, type Ask, notFound, type RestRepository, refused } from './rest.ts';
import { reviewRoutes } from './reviews.ts';
import { matcher } from './templates.ts';
import { keyOf, permissionsOf, type World } from './world.ts';

const matched = matcher({
  ...repositoryRoutes,
  ...issueRoutes,
  ...pullRoutes,
  ...reviewRoutes,
  ...checkRoutes,
  ...actionRoutes,
});

/** What GitHub's REST API answers: by our own handler where the emulated host is wrong, else by that. */
export const restAnswer = async (world: World, given: Ask): Promise<Answer> => {
  const ask = { ...given, path: named(world, given.path) };
  const elsewhere = movedTo(world, ask) ?? (await hidden(world, ask)) ?? readOnly(world, ask);
  if (elsewhere !== undefined) return elsewhere;
  const found = matched(ask.method, ask.path);
  if (found === undefined) return passed(world, ask);
  return found.value(world, ask, found.params);
};

/** A redirect names the repository by its number, which it keeps for life. */
const named = ({ ids }: World, path: string): string =>
  path.replace(/^\/repositories\/(\d+)/, (whole, id: string) => {
    const name = ids.get(Number(id));
    return name === undefined ? whole : `/repos/${name}`;
  });

const movedTo = (world: World, { method, path }: Ask): Answer | undefined => {
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
  const now = world.renamed.get(name);
  if (now !== undefined) return redirect(world, { method, to: now, rest });
  const [, number] = /^\/issues\/(\d+)(?=\/|$)/.exec(rest) ?? [];
  return number === undefined ? undefined : world.moved.get(keyOf(name, Number(number)));
};

/** 301 for a read, 307 for a write, so that it stays one; to the repository's number, as GitHub does. */
const redirect = (
  { ids, url }: World,
  { method, to, rest }: { method: string; to: string; rest: string },
): Answer => {
  const id = [...ids].find(([, name]) => name === to)?.[0];
  const location = `${url}/repositories/${id}${rest}`;
  const isRead = method === 'GET' || method === 'HEAD';
  const answer = refused(isRead ? 301 : 307, isRead ? 'Moved Permanently' : 'Temporary Redirect');
  return {
    ...answer,
    headers: { ...answer.headers, location },
    body: { ...(answer.body as object), url: location },
  };
};

const readOnly = ({ archived, roles }: World, { method, path, login }: Ask): Answer | undefined => {
  if (method === 'GET') return undefined;
  const [, name = ''] = /^\/repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
  if (archived.has(name)) return refused(403, 'Repository was archived so is read-only.');
  const mayTriage = permissionsOf(roles.get(login) ?? 'none').triage;
  if (mayTriage || !/\/labels(?:\/|$)/.test(path)) return undefined;
  return refused(403, 'Resource not accessible by personal access token');
};

/** Whoever may not see a repository is told that there is none; the emulated host would say 403. */
const hidden = async (world: World, { path, login }: Ask): Promise<Answer | undefined> => {
  const [, name] = /^\/repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
  if (name === undefined || (world.roles.get(login) ?? 'none') !== 'none') return undefined;
  const repository = await world.emulated.call('GET', `/repos/${name}`);
  if (repository.status !== 200) return undefined;
  return (repository.body as RestRepository).private ? notFound() : undefined;
};
