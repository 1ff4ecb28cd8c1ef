import { setTimeout as delay } from 'node:timers/promises';
import type { Tree } from '../../../store/fs/worktree/folder.ts';
import { pathNames } from '../../../store/fs/worktree/path.ts';
import { readTreeFile } from '../../../store/fs/worktree/read.ts';
import type { Language } from '../../../store/records/settings.ts';
import { ServiceError } from '../../errors.ts';
import { list, record, text, type Wire } from '../../text/unknown-json.ts';
import { type Conversation, withConversation } from './conversation.ts';
import { DID_OPEN } from './documents.ts';
import { type FilesScope, treeIn } from './files-scope.ts';
import { uriOf } from './initialize.ts';
import type { LanguageServerNeeds } from './running.ts';
import { serverFor } from './servers.ts';

interface Cursor extends FilesScope {
  language: Language;
  path: string;
  /** Zero-based; `character` in UTF-16 units. */
  position: { line: number; character: number };
  /** The unsaved text of the editor; without it, the file on disk. */
  content?: string | undefined;
}

const LOADING_MS = 10_000;
const PAUSE_MS = 250;

/**
 * The completions of the language server at the cursor. A server that is still loading the project returns none, so a
 * new server is asked again for up to 10 s while its list is empty.
 */
export const complete = async (
  service: LanguageServerNeeds,
  cursor: Cursor,
): Promise<{ items: Wire[] }> => {
  const { language, path, position } = cursor;
  const tree = await treeIn(service, cursor);
  const content = await contentOf(tree, cursor);
  const server = await serverFor(service, language, tree);
  const uri = uriOf(`${tree.root}/${pathNames(path).join('/')}`);
  const params = { textDocument: { uri }, position };
  return withConversation(service.languageServers, server, async (conversation) => {
    const languageId = languageOf(language, path);
    const textDocument = { uri, languageId, version: 1, text: content };
    conversation.tell({ jsonrpc: '2.0', method: DID_OPEN, params: { textDocument } });
    return { items: await askUntilLoaded(conversation, params, server.readySince()) };
  });
};

const contentOf = async (tree: Tree, { path, content }: Cursor): Promise<string> => {
  if (content !== undefined) return content;
  const file = await readTreeFile(tree, path);
  if (file !== undefined) return file.bytes.toString('utf8');
  const message = `${path} does not exist on disk. Send its unsaved text as content.`;
  throw new ServiceError('not_found', message);
};

const languageOf = (language: Language, path: string): string =>
  language !== 'rust' && /x$/i.test(path) ? `${language}react` : language;

const askUntilLoaded = async (
  { ask }: Conversation,
  params: object,
  since: number,
): Promise<Wire[]> => {
  for (let id = 1; ; id += 1) {
    const answer = await ask({ jsonrpc: '2.0', id, method: 'textDocument/completion', params });
    const items = itemsOf(answer);
    if (items.length > 0 || performance.now() - since > LOADING_MS) return items;
    await delay(PAUSE_MS);
  }
};

const itemsOf = ({ result, error }: Wire): Wire[] => {
  if (error === undefined) return list(record(result).items ?? result).map(record);
  const why = text(record(error).message) ?? 'no reason given';
  throw new ServiceError(
    'unavailable',
    `The language server returned an error: ${why}. Check that the position is in the file, then try again.`,
  );
};
