import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { createDispatcher, type Dispatcher } from '../../../../lib/events/webhooks/dispatcher.ts';
import type { EventBody } from '../../../../store/records/event.ts';
import type { WebhookMatter } from '../../../../store/records/webhook.ts';
import type { Store } from '../../../../store/store.ts';
import { createRegistration, type Scope } from '../../../../store/webhooks/webhooks.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeRoot, openRoot } from '../../../helpers/workspace.ts';

export interface Life {
  readonly root: string;
  readonly store: Store;
  readonly dispatcher: Dispatcher;
  readonly logged: { level: string; details: object; message: string }[];
  readonly reported: [string, unknown][];
  /** Registers a receiver and answers its id. */
  register(url: string, matter?: Partial<WebhookMatter>, scope?: Scope): Promise<string>;
  /** Puts events of these types into the journal; by default of some Work item. */
  happen(types: EventBody['event_type'][], caseId?: string): Promise<void>;
  /** Ends this life; the next one begins on the same files with `begin`. */
  end(): Promise<void>;
  begin(): Promise<void>;
}

export const SECRET = 'a secret of the operator';

interface Options {
  schedule?: readonly number[];
}

/** A store and a dispatcher on a temporary root, that can end and begin again. */
export const live = async (t: TestContext, { schedule = [5, 5] }: Options = {}): Promise<Life> => {
  const root = makeRoot();
  const logged: Life['logged'] = [];
  let life: Awaited<ReturnType<typeof open>> | undefined = await open(root, schedule, logged);
  const now = () => life as NonNullable<typeof life>;
  const end = async (): Promise<void> => {
    await life?.close();
    life = undefined;
  };
  atEnd(t, async () => {
    await end();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    logged,
    get store() {
      return now().store;
    },
    get dispatcher() {
      return now().dispatcher;
    },
    get reported() {
      return now().reported;
    },
    register: async (url, matter = {}, scope = undefined) => {
      const id = randomUUID();
      const created_at = new Date().toISOString();
      const made = { matter: { id, url, created_at, ...matter }, secret: SECRET };
      await createRegistration(now().store, scope, made);
      now().dispatcher.changed();
      return id;
    },
    happen: async (types, caseId = randomUUID()) => {
      const timestamp = new Date().toISOString();
      const events = types.map(
        (event_type) => ({ event_type, timestamp, payload: { case_id: caseId } }) as EventBody,
      );
      await now().store.journal.append({ events });
    },
    end,
    begin: async () => {
      life = await open(root, schedule, logged);
    },
  };
};

const open = async (root: string, schedule: readonly number[], logged: Life['logged']) => {
  const { store, reported, close } = await openRoot(root);
  const note =
    (level: string) =>
    (details: object, message: string): void => {
      logged.push({ level, details, message });
    };
  const log = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  };
  const dispatcher = createDispatcher({ store, log, version: '1.2.3', schedule });
  dispatcher.start();
  return {
    store,
    dispatcher,
    reported,
    close: async () => {
      await dispatcher.close();
      await close();
    },
  };
};
