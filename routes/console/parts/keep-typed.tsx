import { useEffect, useRef, useState } from 'preact/hooks';
import { keepAs, keptAs } from './kept.ts';

/** What was typed into a field, and what it said before. */
type Draft = Record<string, { typed: string; over: string }>;

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * What is typed into its form and not sent is kept in this browser: in this tab first, so that another that writes the same
 * takes nothing away. It is put back only where nothing was typed, and said; with what it was written over changed, that too.
 */
export const KeepTyped = ({ as: name }: { as: string }) => {
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
