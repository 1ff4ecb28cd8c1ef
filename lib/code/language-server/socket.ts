import type { WebSocket } from 'ws';
import { messageOf } from '../../../store/base/attempt.ts';
import type { Language } from '../../../store/records/settings.ts';
import { CLOSED, type ClientEnding, type EditorClient } from './client.ts';
import { type FilesScope, treeIn } from './files-scope.ts';
import type { LanguageServerNeeds } from './running.ts';
import { serverFor, subscribe } from './servers.ts';

const FULL = 1_048_576;
const EMPTY = 131_072;

/** Starts the server, so that errors can be reported over HTTP; returns a function that connects a WebSocket to it. */
export const openBridge = async (
  service: LanguageServerNeeds,
  language: Language,
  scope: FilesScope,
): Promise<(socket: WebSocket) => void> => {
  const server = await serverFor(service, language, await treeIn(service, scope));
  return (socket) => {
    let full = false;
    const sent = (): void => {
      if (!full || socket.bufferedAmount > EMPTY) return;
      full = false;
      seat.drained();
    };
    const client: EditorClient = {
      isEditor: true,
      deliver: (message) => {
        if (socket.readyState !== socket.OPEN) return true;
        socket.send(message, { binary: false }, sent);
        full ||= socket.bufferedAmount > FULL;
        return !full;
      },
      resume: () => socket.resume(),
      end: (why) => {
        // Leave at once, so that a slow close does not block the other clients.
        seat.leave();
        close(socket, why);
      },
    };
    const seat = subscribe(service.languageServers, server, client);
    socket.on('message', (data: Buffer) => {
      try {
        if (!seat.receive(data)) socket.pause();
      } catch (error) {
        const what = messageOf(error);
        close(socket, { code: CLOSED.bad_message, reason: what.slice(0, 100) });
      }
    });
    // A frame error is reported by the close code.
    socket.on('error', () => undefined);
    socket.on('close', () => seat.leave());
  };
};

// The close frame is queued behind unread messages; ws drops the connection after 30 s.
const close = (socket: WebSocket, { code, reason }: ClientEnding): void => {
  socket.resume();
  socket.close(code, reason);
};
