import { connect } from '../../../lib/client/client.ts';
import type { WorkspaceEvent } from '../common/page.ts';
import type { Told } from './follow.ts';

interface Connecting {
  onconnect: (event: MessageEvent) => void;
}

/** A worker lives longer than its tabs: it begins anew where nobody answers any more, such as after a new version. */
const PAUSE_MS = 2000;

const ports = new Set<MessagePort>();
let state: 'lost' | 'back' | undefined;

// One for the whole browser, however many tabs look.
(globalThis as unknown as Connecting).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  if (state !== undefined) port.postMessage({ state } satisfies Told);
};

const tell = (told: Told): void => {
  for (const port of ports) port.postMessage(told);
};

const become = (now: 'lost' | 'back'): void => {
  if (state !== now) tell({ state: now });
  state = now;
};

const follow = async (): Promise<void> => {
  const stream = connect({ url: '' }).stream('GET /events', {
    query: { after: 'now' },
    onOpen: () => become('back'),
    onBreak: () => become('lost'),
  });
  for await (const { data } of stream)
    if ('event_type' in data) tell({ event: data as WorkspaceEvent });
};

const goOn = (): void => {
  become('lost');
  setTimeout(() => void follow().catch(goOn), PAUSE_MS);
};

void follow().catch(goOn);
