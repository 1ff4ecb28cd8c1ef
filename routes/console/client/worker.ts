import { followEvents, type StreamMessage } from './events.ts';

interface Connecting {
  onconnect: (event: MessageEvent) => void;
}

const ports = new Set<MessagePort>();
let lastState: StreamMessage | undefined;

// One connection for the whole browser.
(globalThis as unknown as Connecting).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  if (lastState !== undefined) port.postMessage(lastState);
};

followEvents((message) => {
  if ('state' in message) lastState = message;
  for (const port of ports) port.postMessage(message);
});
