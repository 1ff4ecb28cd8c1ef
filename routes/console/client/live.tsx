import { useEffect, useRef, useState } from 'preact/hooks';
import { loadPage } from '../common/load.ts';
import {
  type At,
  type Done,
  type Frame,
  type Page,
  titleOf,
  type WorkspaceEvent,
} from '../common/page.ts';
import { type FormResult, sendForm } from '../common/send-form.ts';
import { browserApi, type Field, fieldsOf, storeAgain } from '../parts/form.tsx';
import { Shell } from '../parts/shell.tsx';
import { subscribe } from './events.ts';
import { showProblem } from './focus.ts';
import { markIcon, notify } from './notifications.ts';

/** The data that the document embeds, and the page that it names. */
export interface LiveProps {
  frame: Frame;
  at: At;
  shown?: object;
  page: Page;
  worker: string;
}

/** Whether the form is on the page no more: its problem moves to the top of the page. */
const isGone = (form: object | undefined): boolean => form instanceof Node && !form.isConnected;

/** The page in the browser. It loads again when an event may have changed its data, and after each form. */
export const Live = (props: LiveProps) => {
  const { page } = props;
  const [now, setNow] = useState<Now>({
    frame: { ...props.frame, loaded: props.frame.showing },
    shown: props.shown,
  });
  const current = useRef(now);
  current.current = now;
  useEffect(() => {
    const put = (frame: Partial<Frame>, shown = current.current.shown) => {
      current.current = { frame: { ...current.current.frame, ...frame }, shown };
      setNow(current.current);
    };
    keepUpToDate(props, () => current.current, put);
  }, []);
  const { problem, refused } = now.frame;
  useEffect(() => {
    if (isGone(refused)) setNow({ ...now, frame: { ...now.frame, refused: undefined } });
  });
  useEffect(() => {
    if (problem !== undefined) showProblem(refused);
  }, [problem, refused]);
  useEffect(() => {
    document.title = titleOf(page, now.shown, now.frame);
    markIcon(now.frame.waiting);
  });
  return <Shell frame={now.frame} page={page} shown={now.shown} />;
};

interface Now {
  frame: Frame;
  shown: object | undefined;
}

type Put = (frame: Partial<Frame>, shown?: object) => void;

/** Reloads the page's data on events, forms and focus, as long as the page is open. */
const keepUpToDate = ({ page, at, worker }: LiveProps, now: () => Now, put: Put): void => {
  const frame = () => now().frame;
  const { follows = () => true } = page;
  const { refresh, addEvent } = refreshing(async (since) => {
    if (follows === false || isLeaving()) return true;
    const { shown } = now();
    const loaded = frame().showing;
    try {
      const found = await loadPage(page, browserApi, at, shown && since && { shown, since });
      const { missing, fileProblems = frame().fileProblems ?? [] } = found;
      if (missing?.status === UNAUTHORIZED) put({ down: 'out' });
      else put({ missing, fileProblems, loaded, down: undefined }, found.shown);
      return missing === undefined;
    } catch {
      put({ down: frame().down ?? 'lost' });
      return false;
    }
  });
  listenForForms(
    () => frame().showing,
    (end, sent) => {
      if (!('problem' in end) && end.on !== undefined && end.on !== frame().path) {
        document.documentElement.dataset.leaving = '';
        // The browser may come back to this page, or the operator stop the navigation: what is sent then is another call.
        put({ showing: crypto.randomUUID() });
        return location.assign(end.on);
      }
      put(frameAfter(end, sent));
      // A form may have failed because the page is out of date.
      refresh();
    },
  );
  refreshOnReturn(refresh);
  const onEvent = (event: WorkspaceEvent): void => {
    const { event_type, payload } = event;
    if (event_type === 'attention_changed') {
      put({ waiting: Number(payload.count) });
      notify();
    }
    if (follows !== false && follows(event, at)) addEvent(event);
  };
  subscribe(worker, (message) => {
    if ('event' in message) return onEvent(message.event);
    if (message.state !== 'back') return put({ down: message.state });
    // Events before this point may be missed, so everything is loaded again.
    document.documentElement.dataset.live = '';
    put({ down: undefined });
    refresh();
    notify();
  });
};

const refreshOnReturn = (refresh: () => void): void => {
  // Files written by an editor may raise no event.
  window.addEventListener('focus', refresh);
  // A page that the browser kept while another was shown has heard of no event.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    delete document.documentElement.dataset.leaving;
    refresh();
  });
};

const UNAUTHORIZED = 401;

/** A form that was sent, and what it says after success. */
interface Sent {
  form: HTMLFormElement;
  done: Done;
}

// A problem stays until the next form, whatever the connection does: the call may have been made.
const frameAfter = (end: FormResult, { form, done }: Sent): Partial<Frame> => {
  if (!('problem' in end)) {
    const showing = crypto.randomUUID();
    return { problem: undefined, refused: undefined, once: end.once, done, showing };
  }
  const isOut = end.problem.status === UNAUTHORIZED;
  return { problem: end.problem, refused: form, done: undefined, ...(isOut && { down: 'out' }) };
};

// A page that is being left, or deletes its own Work item, is not loaded again.
const isLeaving = (): boolean =>
  document.querySelector(
    '[data-leaving], form[aria-busy=true] > input[name=_call][value^="DELETE /cases/"]',
  ) !== null;

/** Loads again, with the events since the last load if nothing else can have changed the data. */
const refreshing = (load: (since: WorkspaceEvent[] | undefined) => Promise<boolean>) => {
  let since: WorkspaceEvent[] | undefined;
  const wake = oneAtATime(async () => {
    const events = since;
    since = [];
    if (!(await load(events))) since = undefined;
  });
  const refresh = (): void => {
    since = undefined;
    wake();
  };
  const addEvent = (event: WorkspaceEvent): void => {
    since?.push(event);
    wake();
  };
  return { refresh, addEvent };
};

/** Events within this time are handled together, in milliseconds. */
const TOGETHER_MS = 50;

// Requests during a run are combined into one further run.
const oneAtATime = (work: () => Promise<void>): (() => void) => {
  let [runs, isAgain] = [false, false];
  const run = async (): Promise<void> => {
    isAgain = runs;
    if (runs) return;
    runs = true;
    await new Promise((done) => setTimeout(done, TOGETHER_MS));
    await work();
    runs = false;
    if (isAgain) await run();
  };
  return () => void run();
};

/** Sends API forms without leaving the page. */
const listenForForms = (
  showing: () => string,
  onResult: (end: FormResult, sent: Sent) => void,
): void => {
  const onSubmit = (event: SubmitEvent): void => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.do === undefined) return;
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    form.ariaBusy = 'true';
    const done = doneOf(form, event.submitter);
    const data = [...new FormData(form, event.submitter)];
    const sent = new Map(fieldsOf(form).map((field) => [field, field.value]));
    void sendForm(browserApi, textsOf(data), showing(), fileIn(data)).then((end) => {
      form.ariaBusy = null;
      if (!('problem' in end)) resetSent(form, sent);
      onResult(end, { form, done });
    });
  };
  document.addEventListener('submit', onSubmit);
};

// What was typed while the call ran is not sent yet.
const resetSent = (form: HTMLFormElement, sent: ReadonlyMap<Field, string>): void => {
  const later = fieldsOf(form).flatMap((field) => {
    const { value, defaultValue } = field;
    return value === (sent.get(field) ?? defaultValue) ? [] : [{ field, value }];
  });
  form.reset();
  for (const { field, value } of later) {
    field.value = value;
    storeAgain(field);
  }
};

/** What the form says after success. */
const doneOf = (form: HTMLFormElement, submitter: HTMLElement | null): Done => {
  const button = submitter ?? form.querySelector<HTMLElement>('button[type=submit]');
  const { done: text, doneAt: href, doneOn: name } = form.dataset;
  if (href !== undefined && name !== undefined) return { text: text ?? '', on: { href, name } };
  return { text: text ?? `Done: ${(button?.ariaLabel ?? button?.textContent ?? '').trim()}` };
};

type Fields = [string, FormDataEntryValue][];

const textsOf = (data: Fields): [string, string][] =>
  data.filter((field): field is [string, string] => typeof field[1] === 'string');

const fileIn = (data: Fields): File | undefined =>
  data.flatMap(([, value]) => (typeof value === 'string' || value.name === '' ? [] : [value]))[0];
