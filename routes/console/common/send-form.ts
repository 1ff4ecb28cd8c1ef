import { type Dossier, Problem } from '../../../lib/client/client.ts';
import type { Told } from './page.ts';

type Json = Record<string, unknown>;

/**
 * How the call of a form ended: where to go on, and what of the answer is shown this once; or why it was refused; where to
 * go on too where only what follows was.
 */
export type FormEnd =
  | { on: string | undefined; once?: string | undefined }
  | { told: Told; on?: string | undefined };

/**
 * Makes the call that a form stands for. `_call` is method and path, `_body` the JSON body to begin with, `_markdown` a
 * body of Markdown, `_if_match` an ETag, `_then` where to go on, with `{id}` for what was made, `_once` a member of the
 * answer that is shown this once, `_was` what the page showed: members that are still so are not sent; every other field is a
 * member of the body: `name` a text, `name?` none where it is empty, `name:json` a value, `name:lines` its lines, `name:null`
 * null where it is empty, `name[]` one of several, too, `a.b` a
 * member of a member, the last of them `{name}` for what the field `_name` says. `_next` is a call that follows, with
 * `{id}` too, and `_next.name` a member of its body. `showing` is of this showing of the page: what is sent twice from it
 * is made once. A form that has a file sends that, and what else is said of it in the query.
 */
export const sendForm = async (
  { request }: Pick<Dossier, 'request'>,
  fields: Iterable<[string, string]>,
  showing: string,
  file?: File,
): Promise<FormEnd> => {
  const { said, members, nextMembers } = sorted(fields);
  const [call, next] = [said.get('_call') ?? '', said.get('_next')];
  const input = file === undefined ? inputOf(said, members) : fileInput(file, members);
  const then = inputOf(new Map(), nextMembers);
  const isWell = [call, next ?? call].every((one) => CHANGING.test(one));
  if (!isWell || input === undefined || then === undefined) return { told: MALFORMED };
  let on: string | undefined;
  try {
    const made = await makeOnce(request, call, { input, showing });
    const { id } = made;
    const withId = (text: string) => text.replaceAll('{id}', encodeURIComponent(String(id)));
    on = said.has('_then') ? withId(said.get('_then') ?? '') : undefined;
    if (next !== undefined) await makeOnce(request, withId(next), { input: then, showing });
    return { on, once: onceOf(said, made) };
  } catch (error) {
    return { told: toldOf(error), on };
  }
};

const onceOf = (said: ReadonlyMap<string, string>, made: Json): string | undefined => {
  const name = said.get('_once');
  return name === undefined ? undefined : String(own(made, name));
};

const makeOnce = async (
  request: Dossier['request'],
  call: string,
  { input, showing }: { input: object; showing: string },
): Promise<Json> => {
  // The form says which call it is: its types are not known here.
  const make = request as unknown as (call: string, input: object) => Promise<{ data: unknown }>;
  const once = call.startsWith('POST ') && showing !== '';
  const key = once && { idempotencyKey: `${showing} ${call}` };
  return ((await make(call, { ...input, ...key })).data ?? {}) as Json;
};

const CHANGING = /^(?:POST|PUT|PATCH|DELETE) \/\S*$/;

const MALFORMED: Told = {
  ...{ status: 400, title: 'The form is not valid' },
  detail: 'This form is none that a page of the console made. Nothing was done.',
};

/** What a person is told of a call that failed. */
export const toldOf = (error: unknown): Told => {
  if (error instanceof Problem) {
    const { status, title, detail, members } = error;
    const { errors = [] } = members as { errors?: FieldError[] };
    return { status, title, detail: errors.map(inWords).join(' ') || detail };
  }
  return {
    ...{ status: 0, title: 'The daemon does not answer' },
    detail: 'Nobody knows whether the call was made: look before you repeat it.',
  };
};

interface FieldError {
  path: string;
  message: string;
}

// A path such as /idle_timeout or query/type as one would name the field.
const inWords = ({ path, message }: FieldError): string => {
  const [first = '', ...more] = path.split('/').slice(1);
  const name = [first.replaceAll('_', ' '), ...more].join(' ') || 'what was sent';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${message}.`;
};

/** What was refused as a person reads it: the detail says it whole, but where it was not the call that was at fault. */
export const saidOf = ({ status, title, detail }: Told): string =>
  status >= 400 && status < 500 && detail !== '' ? detail : `${title}. ${detail}`;

const sorted = (fields: Iterable<[string, string]>) => {
  const said = new Map<string, string>();
  const members: [string, string][] = [];
  const nextMembers: [string, string][] = [];
  for (const [name, value] of fields)
    if (name.startsWith(NEXT)) nextMembers.push([name.slice(NEXT.length), value]);
    else if (/^(_|form_key$)/.test(name)) said.set(name, value);
    else members.push([name, value]);
  return { said, members, nextMembers };
};

const NEXT = '_next.';

const inputOf = (said: ReadonlyMap<string, string>, members: readonly [string, string][]) => {
  try {
    const markdown = said.get('_markdown')?.replaceAll('\r\n', '\n');
    return { body: markdown ?? bodyOf(said, members), ifMatch: said.get('_if_match') };
  } catch {
    return undefined;
  }
};

const fileInput = (file: File, members: readonly [string, string][]) => ({
  body: file,
  query: { ...Object.fromEntries(members), name: file.name.slice(-255) },
});

const bodyOf = (said: ReadonlyMap<string, string>, members: readonly [string, string][]) => {
  const base = said.get('_body');
  if (base === undefined && members.length === 0) return undefined;
  const body: Json = base === undefined ? {} : JSON.parse(base);
  for (const [name, value] of members) put(body, [name, value], said.get('_name') ?? '');
  const was: Json = JSON.parse(said.get('_was') ?? '{}');
  const isChanged = ([name, value]: [string, unknown]) =>
    !Object.hasOwn(was, name) || JSON.stringify(was[name]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(body).filter(isChanged));
};

const put = (body: Json, [name, value]: [string, string], given: string): void => {
  const [, key = '', kind = ''] = /^(.*?)(\?|:json|:lines|:null|\[\])?$/s.exec(name) ?? [];
  if (OF_WHAT_IS_SAID.has(kind) && value.trim() === '') return;
  const { inside, last: written } = placeOf(body, key);
  const last = written === '{name}' ? given.trim() : written;
  inside[last] = READ[kind]?.(value.replaceAll('\r\n', '\n'), own(inside, last));
};

// With nothing said these are no member; a text is one, and may be emptied.
const OF_WHAT_IS_SAID: ReadonlySet<string> = new Set(['?', ':json', '[]']);

/** What a field says, by how its name ends; what others of its name said before. */
const READ: Readonly<Record<string, (text: string, before: unknown) => unknown>> = {
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
  const inside = (own(body, member) ?? {}) as Json;
  Object.defineProperty(body, member, { value: inside, enumerable: true, configurable: true });
  return { inside, last: key.slice(dot + 1) };
};

// What a name such as __proto__ would find is nobody's member.
const own = (body: Json, name: string): unknown =>
  Object.hasOwn(body, name) ? body[name] : undefined;
