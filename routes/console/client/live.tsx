import { useEffect, useRef, useState } from 'preact/hooks';
import { connect } from '../../../lib/client/client.ts';
import { loadNow } from '../common/load.ts';
import {
  type Api,
  type At,
  type Frame,
  type Page,
  titleOf,
  type WorkspaceEvent,
} from '../common/page.ts';
import { type FormEnd, sendForm } from '../common/send-form.ts';
import { InReach } from '../parts/form.tsx';
import { Shell } from '../parts/shell.tsx';
import { follow } from './events.ts';
import { markIcon, notify } from './notifications.ts';

interface LiveProps {
  frame: Frame;
  at: At;
  shown?: object;
  page: Page;
  worker: string;
}

const api = connect({ url: '' });

/** The page as it is now: what it shows is asked for anew when an event may have changed it, or a form did. */
export const Live = (props: LiveProps) => {
  const { page } = props;
  const [now, setNow] = useState<Now>({ frame: props.frame, shown: props.shown });
  const told = useRef(now);
  told.current = now;
  useEffect(() => {
    const put = (frame: Partial<Frame>, shown = told.current.shown) => {
      told.current = { frame: { ...told.current.frame, ...frame }, shown };
      setNow(told.current);
    };
    keepUp(props, () => told.current, put);
  }, []);
  useEffect(() => {
    document.title = titleOf(page, now.shown, now.frame);
    markIcon(now.frame.waiting);
  });
  return (
    <InReach.Provider value={api}>
      <Shell frame={now.frame} page={page} shown={now.shown} />
    </InReach.Provider>
  );
};

interface Now {
  frame: Frame;
  shown: object | undefined;
}

type Put = (frame: Partial<Frame>, shown?: object) => void;

/** Follows what changes the page, as long as it is open. */
const keepUp = ({ page, at, worker }: LiveProps, now: () => Now, put: Put): void => {
  const frame = () => now().frame;
  const { follows = () => true } = page;
  const { refresh, hear } = refreshing(async (since) => {
    if (follows === false || isGoing()) return true;
    const { shown } = now();
    try {
      const found = await loadNow(page, api, at, shown && since && { shown, since });
      const { missing, faults = frame().faults ?? [] } = found;
      put({ missing, faults, ...(frame().problem === UNREACHED && ANSWERS) }, found.shown);
      return missing === undefined;
    } catch {
      // Why something was refused stays until one acts again.
      put({ problem: frame().problem ?? UNREACHED });
      return false;
    }
  });
  listenForForms(
    api,
    () => frame().showing,
    (end) => {
      if ('told' in end) {
        // What is shown may be what it was refused for.
        put({ problem: end.told });
        return refresh();
      }
      if (end.on !== undefined && end.on !== frame().path) {
        document.documentElement.dataset.leaving = '';
        return location.assign(end.on);
      }
      put({ problem: undefined, once: end.once, showing: crypto.randomUUID() });
      refresh();
    },
  );
  // What an editor wrote beside a record is seen when one comes back from it.
  window.addEventListener('focus', refresh);
  follow(worker, {
    event: (event) => {
      const { event_type, payload } = event;
      if (event_type === 'attention_changed') {
        put({ waiting: Number(payload.count) });
        void notify(api).catch(() => undefined);
      }
      if (follows !== false && follows(event, at)) hear(event);
    },
    lost: () => put({ problem: UNREACHED }),
    back: () => {
      // From here on nothing is missed: what happened before is asked for.
      document.documentElement.dataset.live = '';
      put({ problem: undefined });
      refresh();
      void notify(api).catch(() => undefined);
    },
  });
};

const UNREACHED = {
  ...{ status: 0, title: 'The daemon does not answer' },
  detail: 'What is shown may be old. It is tried again by itself.',
};

// What this very page deletes, and what one leaves, is not asked for any more.
const isGoing = (): boolean =>
  document.querySelector(
    '[data-leaving], form[aria-busy=true] > input[name=_call][value^="DELETE /cases/"]',
  ) !== null;

const ANSWERS = { problem: undefined };

/** Loads anew, with the events since the last time where nothing else can have changed what is shown. */
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
  const hear = (event: WorkspaceEvent): void => {
    since?.push(event);
    wake();
  };
  return { refresh, hear };
};

/** How long several events that come together are waited for, in milliseconds. */
const TOGETHER_MS = 50;

// Of many wishes while one is fulfilled one more is.
const oneAtATime = (work: () => Promise<void>): (() => void) => {
  let [runs, again] = [false, false];
  const run = async (): Promise<void> => {
    again = runs;
    if (runs) return;
    runs = true;
    await new Promise((done) => setTimeout(done, TOGETHER_MS));
    await work();
    runs = false;
    if (again) await run();
  };
  return () => void run();
};

/** Sends forms that stand for a call without leaving the page. */
const listenForForms = (api: Api, showing: () => string, ended: (end: FormEnd) => void): void => {
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
