import type { Api } from '../common/page.ts';
import { type FormEnd, sendForm } from '../common/send-form.ts';

/** Sends forms that stand for a call without leaving the page. */
export const listenForForms = (
  api: Api,
  showing: () => string,
  ended: (end: FormEnd) => void,
): void => {
  const onSubmit = (event: SubmitEvent): void => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.do === undefined) return;
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    void sendForm(api, textsOf(new FormData(form, event.submitter)), showing()).then((end) => {
      form.ariaBusy = null;
      if (!('told' in end)) form.reset();
      ended(end);
    });
  };
  document.addEventListener('submit', onSubmit);
};

const textsOf = (data: FormData): [string, string][] =>
  [...data].filter((field): field is [string, string] => typeof field[1] === 'string');
