import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, Frame } from '../common/page.ts';
import { keepAs, keptAs } from './storage.ts';

/** What the page is shown with. */
export const InFrame = createContext<Frame>({
  ...{ form_key: '', showing: '', nonce: '', path: '', waiting: 0 },
});

/** What a part asks more of, once it is looked at in a browser; undefined on the server. */
export const InReach = createContext<Api | undefined>(undefined);

interface DoProps {
  /** Method and path of the API: `POST /cases`. */
  call: string;
  /** What is sent beside what the fields say. */
  body?: unknown;
  if_match?: string | undefined;
  /** Where to go on; `{id}` is of what was made. Default: this page. */
  then?: string;
  /** A member of the answer that is shown this once, as `frame.once`. */
  once?: string;
  /** What the fields showed: what of it is still so is not sent. */
  was?: unknown;
  /** What is typed is kept in the browser until it is sent. Not for secrets; one form of a call on a page. */
  keep?: true;
  class?: string;
  /** One of its fields is a file. */
  encType?: 'multipart/form-data';
  children?: ComponentChildren;
}

/** A form that makes one call of the API: with scripts and without. */
export const Do = (given: DoProps) => {
  const { call, body, if_match, then, once, was, keep, children, ...rest } = given;
  const { form_key, path, showing } = useContext(InFrame);
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

/** What was typed into a field, and what it said before. */
type Draft = Record<string, { typed: string; over: string }>;

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * What is typed into its form and not sent is kept in this browser: in this tab first, so that another that writes the same
 * takes nothing away. It is put back only where nothing was typed, and said; with what it was written over changed, that too.
 */
const KeepTyped = ({ as: name }: { as: string }) => {
  const box = useRef<HTMLDivElement>(null);
  const [back, setBack] = useState<Back>();
  useEffect(() => {
    const form = box.current?.closest('form');
    if (form === null || form === undefined) return;
    setBack(putBack(form, draftOf(name)));
    const write = () => keep(name, typedIn(form));
    // A form is emptied once its call was made.
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
          {SAID[back]} <button type="reset">Discard it</button>
        </>
      )}
    </div>
  );
};

const SAID = {
  same: 'What you typed before and did not send is here again.',
  other:
    'What you typed before is here again. What stands there was changed since: look at it before you send yours.',
} as const;

type Back = keyof typeof SAID;

const draftOf = (name: string): Draft =>
  keptAs<Draft>(name, 'sessionStorage') ?? keptAs<Draft>(name) ?? {};

const keep = (name: string, draft: Draft | undefined): void => {
  keepAs(name, draft, 'sessionStorage');
  keepAs(name, draft);
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
