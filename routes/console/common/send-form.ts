import { type Dossier, Problem } from '../../../lib/client/client.ts';
import type { Told } from './page.ts';

type Json = Record<string, unknown>;

/** How the call of a form ended: where to go on, or why it was refused. */
export type FormEnd = { on: string | undefined } | { told: Told };

/**
 * Makes the call that a form stands for. `_call` is method and path, `_body` the JSON body to begin with, `_markdown` a
 * body of Markdown, `_if_match` an ETag, `_then` where to go on, with `{id}` for what was made; every other field is a
 * member of the body: `name` a text, `name?` none where it is empty, `name:json` a value, `name[]` one of several, `a.b` a
 * member of a member. `showing` is of this showing of the page: what is sent twice from it is made once.
 */
export const sendForm = async (
  { request }: Pick<Dossier, 'request'>,
  fields: Iterable<[string, string]>,
  showing: string,
): Promise<FormEnd> => {
  const { said, members } = sorted(fields);
  const call = said.get('_call') ?? '';
  const input = inputOf(said, members);
  if (!CHANGING.test(call) || input === undefined) return { told: MALFORMED };
  const once = call.startsWith('POST ') && showing !== '';
  try {
    // The form says which call it is: its types are not known here.
    const make = request as unknown as (call: string, input: object) => Promise<{ data: unknown }>;
    const { data } = await make(call, {
      ...input,
      ...(once && { idempotencyKey: `${showing} ${call}` }),
    });
    const { id } = (data ?? {}) as { id?: unknown };
    return { on: said.get('_then')?.replaceAll('{id}', encodeURIComponent(String(id))) };
  } catch (error) {
    return { told: toldOf(error) };
  }
};

const CHANGING = /^(?:POST|PUT|PATCH|DELETE) \/\S*$/;

const MALFORMED: Told = {
  ...{ status: 400, title: 'The form is not valid' },
  detail: 'It is none that a page of the console made. Nothing was done.',
};

/** What a person is told of a call that failed. */
export const toldOf = (error: unknown): Told => {
  if (error instanceof Problem) {
    const { status, title, detail } = error;
    return { status, title: title ?? `The answer was ${status}`, detail: detail ?? '' };
  }
  return {
    ...{ status: 0, title: 'The daemon does not answer' },
    detail: 'Nobody knows whether the call was made: look before you repeat it.',
  };
};

const sorted = (fields: Iterable<[string, string]>) => {
  const said = new Map<string, string>();
  const members: [string, string][] = [];
  for (const [name, value] of fields)
    if (/^(_|form_key$)/.test(name)) said.set(name, value);
    else members.push([name, value]);
  return { said, members };
};

const inputOf = (said: ReadonlyMap<string, string>, members: readonly [string, string][]) => {
  try {
    const markdown = said.get('_markdown')?.replaceAll('\r\n', '\n');
    return { body: markdown ?? bodyOf(said.get('_body'), members), ifMatch: said.get('_if_match') };
  } catch {
    return undefined;
  }
};

const bodyOf = (base: string | undefined, members: readonly [string, string][]) => {
  if (base === undefined && members.length === 0) return undefined;
  const body: Json = base === undefined ? {} : JSON.parse(base);
  for (const [name, value] of members) put(body, name, value);
  return body;
};

const put = (body: Json, name: string, value: string): void => {
  const [, key = '', kind] = /^(.*?)(\?|:json|\[\])?$/s.exec(name) ?? [];
  if ((kind === '?' || kind === ':json') && value.trim() === '') return;
  const { inside, last } = placeOf(body, key);
  const text = value.replaceAll('\r\n', '\n');
  if (kind === '[]') inside[last] = [...((own(inside, last) as unknown[] | undefined) ?? []), text];
  else inside[last] = kind === ':json' ? JSON.parse(value) : text;
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
