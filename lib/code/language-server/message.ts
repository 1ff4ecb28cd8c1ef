import type { Language } from '../../../store/records/settings.ts';
import { badField, type ServiceError } from '../../errors.ts';
import { record, type Wire } from '../../text/unknown-json.ts';
import { converse } from './converse.ts';
import type { LanguageServerNeeds } from './needs.ts';
import { type FilesScope, treeIn } from './root.ts';
import { serverFor } from './servers.ts';

/** One message to the shared server, plain or as `message`: a request's answer, or undefined for a notification. */
export const passMessage = async (
  service: LanguageServerNeeds,
  language: Language,
  { case_id, project_id, message: wrapped, ...plain }: FilesScope & { message?: Wire },
): Promise<Wire | undefined> => {
  const [message, at] = wrapped === undefined ? [record(plain), ''] : [wrapped, '/message'];
  const scope = { case_id, project_id };
  const { id, method } = message;
  if (typeof method !== 'string') throw notAMessage(`${at}/method`, 'is required: a text');
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    throw notAMessage(`${at}/id`, 'is a text or a number');
  const server = await serverFor(service, language, await treeIn(service, scope));
  return converse(service.languageServers, server, async ({ ask, tell }) => {
    const sent = { jsonrpc: '2.0', ...message };
    if (id !== undefined) return ask(sent);
    tell(sent);
    return undefined;
  });
};

const notAMessage = (path: string, what: string): ServiceError =>
  badField(path, what, `${path} ${what}. Send one JSON-RPC request or notification.`);
