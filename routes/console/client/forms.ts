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
    const data = [...new FormData(form, event.submitter)];
    void sendForm(api, textsOf(data), showing(), fileIn(data)).then((end) => {
      form.ariaBusy = null;
      if (!('told' in end)) form.reset();
      ended(end);
    });
  };
  document.addEventListener('submit', onSubmit);
};

type Fields = [string, FormDataEntryValue][];

const textsOf = (data: Fields): [string, string][] =>
  data.filter((field): field is [string, string] => typeof field[1] === 'string');

const fileIn = (data: Fields): File | undefined =>
  data.flatMap(([, value]) => (typeof value === 'string' || value.name === '' ? [] : [value]))[0];
