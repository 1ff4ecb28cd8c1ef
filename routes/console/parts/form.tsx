import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { connect } from '../../../lib/client/client.ts';
import type { Done, Frame, ProblemSummary } from '../common/page.ts';
import { problemText } from '../common/send-form.ts';
import { readEither, writeBoth } from './storage.ts';

/** The state that the page is rendered with. */
export const PageContext = createContext<Frame>({
  form_key: '',
  showing: '',
  nonce: '',
  path: '',
  waiting: 0,
});

/** Whether the code runs in a browser. The server renders each page first; without scripts that is all. */
export const isBrowser = 'document' in globalThis;

/** The API client of handlers and effects, which run in a browser only. The `load` of a page is given one. */
export const browserApi = connect({ url: '' });

export interface ApiFormProps {
  /** Method and path: `POST /cases`. */
  call: string;
  /** The members of the body that no field has. */
  body?: unknown;
  if_match?: string | undefined;
  /** The location after success; `{id}` is the id of the result. Default: this page. */
  then?: string;
  /** A member of the response that is shown once, as `frame.once`. */
  once?: string;
  /** The text that is announced after success. Default: the name of the button. */
  done?: Done;
  /** The values that the fields showed; unchanged ones are not sent. */
  was?: unknown;
  /**
   * Stores unsent text in the browser, under this name or that of the call. Not for secrets, and only for one form of a
   * name.
   */
  keep?: true | string;
  /** Called once stored text is back in the fields. */
  onRestore?: ((draft: Draft) => void) | undefined;
  class?: string;
  /** For a form with a file. */
  encType?: 'multipart/form-data';
  children?: ComponentChildren;
}

/** A form that makes one API call, with or without scripts. */
export const ApiForm = (given: ApiFormProps) => {
  const { call, body, if_match, then, once, was, done, keep, onRestore, children, ...rest } = given;
  const { form_key, path, showing, problem, refused } = useContext(PageContext);
  const form = useRef<HTMLFormElement>(null);
  return (
    <form
      ref={form}
      method="post"
      action="/dashboard/do"
      data-do
      data-done={done?.text}
      data-done-at={done?.on?.href}
      data-done-on={done?.on?.name}
      {...rest}
    >
      <Hidden name="form_key" value={form_key} />
      <Hidden name="_call" value={call} />
      <Hidden name="_back" value={path} />
      <Hidden name="_showing" value={showing} />
      {then !== undefined && <Hidden name="_then" value={then} />}
      {once !== undefined && <Hidden name="_once" value={once} />}
      {was !== undefined && <Hidden name="_was" value={JSON.stringify(was)} />}
      {body !== undefined && <Hidden name="_body" value={JSON.stringify(body)} />}
      {if_match !== undefined && <Hidden name="_if_match" value={if_match} />}
      {keep !== undefined && (
        <KeepTyped as={nameOf(keep === true ? call : keep)} onRestore={onRestore} />
      )}
      {children}
      {problem !== undefined && refused !== undefined && refused === form.current && (
        <ProblemBox {...problem} class="refused" />
      )}
    </form>
  );
};

interface CallButtonProps extends ApiFormProps {
  /** The class of the button. */
  button?: string;
  /** The key that presses it. */
  keys?: string;
  /** Its name, where its text alone does not say what it is about. */
  label?: string;
}

/** A form that is one button. */
export const CallButton = ({ button, keys, label, children, ...form }: CallButtonProps) => (
  <ApiForm {...form}>
    <button type="submit" class={button} data-key={keys} aria-label={label}>
      {children}
    </button>
  </ApiForm>
);

interface AskedCallProps extends CallButtonProps {
  /** The text of the disclosure, and its name where that does not say what it is about. */
  ask: string;
  about?: string;
}

/** A button in a disclosure, which asks first. */
export const AskedCall = ({ ask, about, ...call }: AskedCallProps) => (
  <details class="ask">
    <summary class="button" data-key="d" aria-label={about}>
      {ask}
    </summary>
    <CallButton {...call} button="danger" />
  </details>
);

/** Why a form was refused. It can take the focus. */
export const ProblemBox = ({ class: kind, ...told }: ProblemSummary & { class: string }) => (
  <div class={`box error ${kind}`} role="alert" data-status={told.status} tabIndex={-1}>
    {problemText(told)}
  </div>
);

const Hidden = ({ name, value }: { name: string; value: string }) => (
  <input type="hidden" name={name} value={value} />
);

const nameOf = (kept: string): string => `typed ${kept}`;

/** The text of each changed field, and the value that it replaces. */
export type Draft = Record<string, { typed: string; over: string }>;

export type Field = HTMLInputElement | HTMLTextAreaElement;

interface KeepProps extends Pick<ApiFormProps, 'onRestore'> {
  /** The name that the text is stored under. */
  as: string;
}

/**
 * Stores the unsent text of its form: in this tab first, so that tabs do not replace each other's text. Restores it
 * into fields that were not edited, and says so, also if the value below has changed since.
 */
const KeepTyped = ({ as: name, onRestore }: KeepProps) => {
  const box = useRef<HTMLDivElement>(null);
  const [back, setBack] = useState<Back>();
  const [isStored, setStored] = useState(true);
  useEffect(() => {
    const form = box.current?.closest('form');
    if (form === null || form === undefined) return;
    const draft = draftOf(name);
    const found = putBack(form, draft);
    setBack(found);
    if (found !== undefined) onRestore?.(draft);
    else if (isSaved(form, draft)) writeBoth(name, undefined);
    const write = () => {
      const typed = typedIn(form);
      setStored(writeBoth(name, typed) || typed === undefined);
    };
    // A form is reset after its call succeeded.
    const drop = () => {
      writeBoth(name, undefined);
      setBack(undefined);
      setStored(true);
    };
    form.addEventListener('input', write);
    form.addEventListener('reset', drop);
    return () => {
      form.removeEventListener('input', write);
      form.removeEventListener('reset', drop);
    };
  }, [name]);
  return (
    <>
      <div ref={box} role="status" hidden={back === undefined} class={back && 'box typed-before'}>
        {back !== undefined && (
          <>
            {SAID[back]} <button type="reset">Discard</button>
          </>
        )}
      </div>
      {!isStored && <NotStored />}
    </>
  );
};

/** Said where the browser's storage is full or not allowed. */
export const NotStored = ({ advice = 'Save it' }: { advice?: string }) => (
  <p class="box warn" role="status">
    {`The browser cannot store this text. ${advice} before you leave this page.`}
  </p>
);

const SAID = {
  same: 'Your unsent text was restored.',
  other:
    'Your unsent text was restored, but the content has changed since. Check it before you send yours.',
} as const;

type Back = keyof typeof SAID;

const draftOf = (name: string): Draft => readEither<Draft>(name) ?? {};

/** The fields of a form that take text. */
export const fieldsOf = (form: HTMLFormElement): Field[] => [
  ...form.querySelectorAll<Field>(
    'textarea[name], input[name]:not([type]), input[type=text], input[type=number], input[type=url]',
  ),
];

const typedIn = (form: HTMLFormElement): Draft | undefined => {
  const typed = fieldsOf(form).filter(({ value, defaultValue }) => value !== defaultValue);
  if (typed.length === 0) return undefined;
  return Object.fromEntries(
    typed.map(({ name, value, defaultValue }) => [name, { typed: value, over: defaultValue }]),
  );
};

// Text that was saved meanwhile, here or elsewhere, is unsent no more.
const isSaved = (form: HTMLFormElement, draft: Draft): boolean => {
  const saved = new Map(fieldsOf(form).map(({ name, defaultValue }) => [name, defaultValue]));
  return Object.entries(draft).every(([name, { typed }]) => saved.get(name) === typed);
};

/** Whether a form with `keep` has unsent text: on this page, on another one, or in another tab. */
export const hasUnsent = (call: string): boolean => {
  const field = document.querySelector(`input[name=_call][value="${CSS.escape(call)}"]`);
  const form = field?.closest('form') ?? undefined;
  const stored = draftOf(nameOf(call));
  if (form === undefined) return Object.keys(stored).length > 0;
  return typedIn(form) !== undefined || !isSaved(form, stored);
};

/** Stores the text of a kept field again, after its value or the value below it was set. */
export const storeAgain = (field: Element): void => {
  field.dispatchEvent(new Event('input', { bubbles: true }));
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
