import { followEvents, type Told } from './events.ts';

interface Connecting {
  onconnect: (event: MessageEvent) => void;
}

const ports = new Set<MessagePort>();
let known: Told | undefined;

// One for the whole browser, however many tabs look.
(globalThis as unknown as Connecting).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  if (known !== undefined) port.postMessage(known);
};

followEvents((told) => {
  if ('state' in told) known = told;
  for (const port of ports) port.postMessage(told);
});
