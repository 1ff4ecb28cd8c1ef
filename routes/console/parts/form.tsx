import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, Frame } from '../common/page.ts';
import { readStored, writeStored } from './storage.ts';

/** The state that the page is rendered with. */
export const PageContext = createContext<Frame>({
  form_key: '',
  showing: '',
  nonce: '',
  path: '',
  waiting: 0,
});

/** The API client in a browser; undefined on the server. */
export const ApiContext = createContext<Api | undefined>(undefined);

interface ApiFormProps {
  /** Method and path: `POST /cases`. */
  call: string;
  /** The members of the body that no field has. */
  body?: unknown;
  if_match?: string | undefined;
  /** The location after success; `{id}` is the id of the result. Default: this page. */
  then?: string;
  /** A member of the response that is shown once, as `frame.once`. */
  once?: string;
  /** The values that the fields showed; unchanged ones are not sent. */
  was?: unknown;
  /** Stores unsent text in the browser. Not for secrets, and only for one form of a call on a page. */
  keep?: true;
  class?: string;
  /** For a form with a file. */
  encType?: 'multipart/form-data';
  children?: ComponentChildren;
}

/** A form that makes one API call, with or without scripts. */
export const ApiForm = (given: ApiFormProps) => {
  const { call, body, if_match, then, once, was, keep, children, ...rest } = given;
  const { form_key, path, showing } = useContext(PageContext);
  return (
    <form method="post" action="/dashboard/do" data-do {...rest}>
      <Hidden name="form_key" value={form_key} />
      <Hidden name="_call" value={call} />
      <Hidden name="_back" value={path} />
      <Hidden name="_showing" value={showing} />
      {then !== undefined && <Hidden name="_then" value={then} />}
      {once !== undefined && <Hidden name="_once" value={once} />}
      {was !== undefined && <Hidden name="_was" value={JSON.stringify(was)} />}
      {body !== undefined && <Hidden name="_body" value={JSON.stringify(body)} />}
      {if_match !== undefined && <Hidden name="_if_match" value={if_match} />}
      {keep && <KeepTyped as={`typed ${call}`} />}
      {children}
    </form>
  );
};

const Hidden = ({ name, value }: { name: string; value: string }) => (
  <input type="hidden" name={name} value={value} />
);

/** The text of each changed field, and the value that it replaces. */
type Draft = Record<string, { typed: string; over: string }>;

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * Stores the unsent text of its form: in this tab first, so that tabs do not replace each other's text. Restores it
 * into fields that were not edited, and says so, also if the value below has changed since.
 */
const KeepTyped = ({ as: name }: { as: string }) => {
  const box = useRef<HTMLDivElement>(null);
  const [back, setBack] = useState<Back>();
  useEffect(() => {
    const form = box.current?.closest('form');
    if (form === null || form === undefined) return;
    setBack(putBack(form, draftOf(name)));
    const write = () => keep(name, typedIn(form));
    // A form is reset after its call succeeded.
    const drop = () => {
      keep(name, undefined);
      setBack(undefined);
    };
    form.addEventListener('input', write);
    form.addEventListener('reset', drop);
    return () => {
      form.removeEventListener('input', write);
      form.removeEventListener('reset', drop);
    };
  }, [name]);
  return (
    <div ref={box} role="status" hidden={back === undefined} class={back && 'box typed-before'}>
      {back !== undefined && (
        <>
          {SAID[back]} <button type="reset">Discard</button>
        </>
      )}
    </div>
  );
};

const SAID = {
  same: 'Your unsent text was restored.',
  other:
    'Your unsent text was restored, but the content has changed since. Check it before you send yours.',
} as const;

type Back = keyof typeof SAID;

const draftOf = (name: string): Draft =>
  readStored<Draft>(name, 'sessionStorage') ?? readStored<Draft>(name) ?? {};

const keep = (name: string, draft: Draft | undefined): void => {
  writeStored(name, draft, 'sessionStorage');
  writeStored(name, draft);
};

const fieldsOf = (form: HTMLFormElement): Field[] => [
  ...form.querySelectorAll<Field>('textarea[name], input[name]:not([type]), input[type=text]'),
];

const typedIn = (form: HTMLFormElement): Draft | undefined => {
  const typed = fieldsOf(form).filter(({ value, defaultValue }) => value !== defaultValue);
  if (typed.length === 0) return undefined;
  return Object.fromEntries(
    typed.map(({ name, value, defaultValue }) => [name, { typed: value, over: defaultValue }]),
  );
};

const putBack = (form: HTMLFormElement, draft: Draft): Back | undefined => {
  const found = fieldsOf(form).flatMap((field) => {
    const { typed, over } = draft[field.name] ?? {};
    if (typed === undefined || field.value !== field.defaultValue || field.value === typed)
      return [];
    const isOver = over !== field.defaultValue;
    field.value = typed;
    return [isOver];
  });
  if (found.length === 0) return undefined;
  form.closest('details')?.setAttribute('open', '');
  return found.includes(true) ? 'other' : 'same';
};
