import { followEvents, type StreamMessage } from './events.ts';

const ports = new Set<MessagePort>();
let lastState: StreamMessage | undefined;

// One connection for the whole browser.
addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  ports.add(port);
  if (lastState !== undefined) port.postMessage(lastState);
});

followEvents((message) => {
  if ('state' in message) lastState = message;
  for (const port of ports) port.postMessage(message);
});
