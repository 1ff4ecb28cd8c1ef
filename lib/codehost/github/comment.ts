import { type Static, Type } from 'typebox';
import { lockOn } from '../../../store/base/locks.ts';
import type { IssueComment } from '../../../store/records/code-host.ts';
import type { MarkedComment } from '../code-host.ts';
import { me } from './account.ts';
import { apiPath, fullNameOf, hostClient, type RepositoryContext } from './client.ts';
import { issueComments } from './issues.ts';
import { hasErrorCode } from './problem.ts';
import { pullToWrite } from './pulls.ts';
import { readFirst } from './usable.ts';

export const Found = Type.Object({ id: Type.Integer(), url: Type.String() });
export const Written = Type.Object({ ...Found.properties, updated: Type.Boolean() });
type Written = Static<typeof Written>;

/**
 * Creates or updates our one comment with a hidden marker. It is looked up first, so that a retry after a lost response
 * creates no second one; a lock serializes concurrent calls.
 */
export const comment = (
  place: RepositoryContext,
  number: number,
  wanted: MarkedComment,
): Promise<Written> =>
  place.context.locks.take(
    lockOn.comment(`${place.name.host}/${fullNameOf(place.name)}#${number}`),
    async () => {
      const { hidden, text } = textsOf(wanted);
      if (place.check !== undefined) await pullToWrite(place, number);
      const about = `${fullNameOf(place.name)}#${number}`;
      const first = { host: place.name.host, about };
      const known = await readFirst(first, find(place, number, hidden));
      if (known === undefined) return create(place, number, text);
      return update(place, known, { text, about: `the comment ${known.id} of ${about}` });
    },
  );

// Two dashes would end the HTML comment.
const textsOf = ({ marker, body }: MarkedComment): { hidden: string; text: string } => {
  const hidden = `<!-- ${marker.replaceAll('--', '- -')} -->`;
  return { hidden, text: `${body.trimEnd()}\n\n${hidden}\n` };
};

/** Our comment with a hidden marker, if it has this body. */
export const findComment = async (
  place: RepositoryContext,
  number: number,
  wanted: MarkedComment,
): Promise<Static<typeof Found> | undefined> => {
  const { hidden, text } = textsOf(wanted);
  const { id, url, body } = (await find(place, number, hidden)) ?? {};
  return body === text && id !== undefined && url !== undefined ? { id, url } : undefined;
};

// A comment by another author that quotes ours must not be changed.
const find = async (
  place: RepositoryContext,
  number: number,
  hidden: string,
): Promise<IssueComment | undefined> => {
  const author = await authorOf(place);
  const all = await issueComments(place, number);
  return all.find(
    (each) => each.body.includes(hidden) && (author === undefined || each.author === author),
  );
};

// An app's token has no user.
const authorOf = async ({ context, name }: RepositoryContext): Promise<string | undefined> => {
  try {
    return (await me(context, name.host)).login;
  } catch (error) {
    if (hasErrorCode(error, 'codehost_forbidden')) return undefined;
    throw error;
  }
};

const create = async (place: RepositoryContext, number: number, body: string): Promise<Written> => {
  const { api } = await hostClient(place);
  const { data } = await api.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...apiPath(place),
    issue_number: number,
    body,
  });
  return { id: Number(data.id), url: data.html_url, updated: false };
};

const update = async (
  place: RepositoryContext,
  known: IssueComment,
  { text: body, about }: { text: string; about: string },
): Promise<Written> => {
  const { id, url } = known;
  if (known.body === body) return { id, url, updated: true };
  const { api } = await hostClient(place);
  const { data } = await api.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
    ...apiPath(place),
    comment_id: id,
    body,
    request: { about },
  });
  // Of the answer, so that one of another form is not taken for the change.
  return { id: Number(data.id), url: data.html_url, updated: true };
};
