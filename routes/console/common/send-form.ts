import { type Dossier, Problem } from '../../../lib/client/client.ts';
import { ownValue } from '../../../store/base/own-value.ts';
import type { ProblemSummary, SentText } from './page.ts';

type Json = Record<string, unknown>;

/**
 * The result of a form: the location to go to and the value to show once, or the problem. After a failed second call,
 * both a problem and a location.
 */
export type FormResult =
  | { on: string | undefined; once?: string | undefined }
  | { problem: ProblemSummary; on?: string | undefined };

/**
 * Makes the API call of a form. Fields that begin with `_` control it: `_call` is the method and path, `_body` the
 * base of the JSON body, `_markdown` a Markdown body, `_if_match` an ETag, `_then` the location to go to (`{id}` is
 * the id of the result), `_once` a member of the response to show once, `_was` the values that the page showed
 * (unchanged members are not sent), `_next` a second call (`{id}` as above), `_next.name` a member of its body. Every
 * other field is a member of the body: `name` a text, `name?` omitted if empty, `name:json` a value, `name:lines` a
 * list of lines, `name:null` null if empty, `name[]` one value of a list, `a.b` a nested member, `a.{name}` a member
 * named by the field `_name`. Calls from one rendering (`showing`) are made once. A form with a file sends the file,
 * and the other fields in the query.
 */
export const sendForm = async (
  { request }: Pick<Dossier, 'request'>,
  fields: Iterable<[string, string]>,
  showing: string,
  file?: File,
): Promise<FormResult> => {
  const { directives, members, nextMembers } = splitFields(fields);
  const [call, next] = [directives.get('_call') ?? '', directives.get('_next')];
  const input = file === undefined ? inputOf(directives, members) : fileInput(file, members);
  const then = inputOf(new Map(), nextMembers);
  const isWell = [call, next ?? call].every((one) => WRITE_CALL.test(one));
  if (!isWell || input === undefined || then === undefined) return { problem: MALFORMED };
  let on: string | undefined;
  try {
    const made = await callOnce(request, call, { input, showing });
    const { id } = made;
    const withId = (text: string) => text.replaceAll('{id}', encodeURIComponent(String(id)));
    on = directives.has('_then') ? withId(directives.get('_then') ?? '') : undefined;
    if (next !== undefined) await callOnce(request, withId(next), { input: then, showing });
    return { on, once: onceOf(directives, made) };
  } catch (error) {
    return { problem: problemSummary(error), on };
  }
};

/** The text of a form, to give back if the form is refused. */
export const sentBy = (form: URLSearchParams): SentText => {
  const { directives, members } = splitFields(form);
  const fields = members.filter(([, text]) => text.trim() !== '');
  return {
    call: directives.get('_call') ?? '',
    markdown: directives.get('_markdown')?.replaceAll('\r\n', '\n'),
    fields: fields.map(([name, text]) => [name.replace(SUFFIX, ''), text]),
  };
};

const SUFFIX = /(?:\?|:json|:lines|:null|\[\])$/;

const onceOf = (directives: ReadonlyMap<string, string>, made: Json): string | undefined => {
  const name = directives.get('_once');
  return name === undefined ? undefined : String(ownValue(made, name));
};

const callOnce = async (
  request: Dossier['request'],
  call: string,
  { input, showing }: { input: object; showing: string },
): Promise<Json> => {
  // The call is only known at run time, so it is untyped.
  const make = request as unknown as (call: string, input: object) => Promise<{ data: unknown }>;
  const once = call.startsWith('POST ') && showing !== '';
  const key = once && { idempotencyKey: `${showing} ${call}` };
  return ((await make(call, { ...input, ...key })).data ?? {}) as Json;
};

const WRITE_CALL = /^(?:POST|PUT|PATCH|DELETE) \/\S*$/;

const MALFORMED: ProblemSummary = {
  status: 400,
  title: 'Invalid form',
  detail:
    'No page of the console has this form. Nothing was changed. Reload the page and try again.',
};

/** The summary of a failed call. */
export const problemSummary = (error: unknown): ProblemSummary => {
  if (error instanceof Problem) {
    const { status, title, detail, members } = error;
    const { errors = [] } = members as { errors?: FieldError[] };
    return { status, title, detail: errors.map(fieldErrorText).join(' ') || detail };
  }
  return {
    status: 0,
    title: 'The daemon does not respond',
    detail: 'The call may have been made. Check the result before you repeat it.',
  };
};

interface FieldError {
  path: string;
  message: string;
}

// Writes a path such as /idle_timeout or query/type as the name of a field.
const fieldErrorText = ({ path, message }: FieldError): string => {
  const [first = '', ...more] = path.split('/').slice(1);
  const name = [first.replaceAll('_', ' '), ...more].join(' ') || 'what was sent';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${message}.`;
};

/** The text to show for a problem. A client error's detail says it all; other errors need the title too. */
export const problemText = ({ status, title, detail }: ProblemSummary): string =>
  status >= 400 && status < 500 && detail !== '' ? detail : `${title}. ${detail}`;

const splitFields = (fields: Iterable<[string, string]>) => {
  const directives = new Map<string, string>();
  const members: [string, string][] = [];
  const nextMembers: [string, string][] = [];
  for (const [name, value] of fields)
    if (name.startsWith(NEXT)) nextMembers.push([name.slice(NEXT.length), value]);
    else if (/^(_|form_key$)/.test(name)) directives.set(name, value);
    else members.push([name, value]);
  return { directives, members, nextMembers };
};

const NEXT = '_next.';

const inputOf = (directives: ReadonlyMap<string, string>, members: readonly [string, string][]) => {
  try {
    const markdown = directives.get('_markdown')?.replaceAll('\r\n', '\n');
    return { body: markdown ?? bodyOf(directives, members), ifMatch: directives.get('_if_match') };
  } catch {
    return undefined;
  }
};

const fileInput = (file: File, members: readonly [string, string][]) => ({
  body: file,
  query: { ...Object.fromEntries(members), name: file.name.slice(-255) },
});

const bodyOf = (directives: ReadonlyMap<string, string>, members: readonly [string, string][]) => {
  const base = directives.get('_body');
  if (base === undefined && members.length === 0) return undefined;
  const body: Json = base === undefined ? {} : JSON.parse(base);
  for (const [name, value] of members) put(body, [name, value], directives.get('_name') ?? '');
  const was: Json = JSON.parse(directives.get('_was') ?? '{}');
  const isChanged = ([name, value]: [string, unknown]) =>
    !Object.hasOwn(was, name) || JSON.stringify(was[name]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(body).filter(isChanged));
};

const put = (body: Json, [name, value]: [string, string], given: string): void => {
  const [, key = '', kind = ''] = /^(.*?)(\?|:json|:lines|:null|\[\])?$/s.exec(name) ?? [];
  if (OMITTED_IF_EMPTY.has(kind) && value.trim() === '') return;
  const { inside, last: written } = placeOf(body, key);
  const last = written === '{name}' ? given.trim() : written;
  inside[last] = PARSERS[kind]?.(value.replaceAll('\r\n', '\n'), ownValue(inside, last));
};

// These kinds are omitted if empty; a plain text is sent, because it may be cleared.
const OMITTED_IF_EMPTY: ReadonlySet<string> = new Set(['?', ':json', '[]']);

/** How a field's value is parsed, by its suffix. `before` is the value of an earlier field of that name. */
const PARSERS: Readonly<Record<string, (text: string, before: unknown) => unknown>> = {
  '': (text) => text,
  '?': (text) => text,
  ':json': (text) => JSON.parse(text),
  ':lines': (text) => text.split('\n').filter((line) => line.trim() !== ''),
  ':null': (text) => (text.trim() === '' ? null : text),
  '[]': (text, before) => [...((before as unknown[] | undefined) ?? []), text],
};

const placeOf = (body: Json, key: string): { inside: Json; last: string } => {
  const dot = key.indexOf('.');
  if (dot < 0) return { inside: body, last: key };
  const member = key.slice(0, dot);
  const inside = (ownValue(body, member) ?? {}) as Json;
  Object.defineProperty(body, member, { value: inside, enumerable: true, configurable: true });
  return { inside, last: key.slice(dot + 1) };
};
