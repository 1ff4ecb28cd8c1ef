import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The `initialize` parameters for all clients of a server, with capabilities that every editor has and without snippets.
 * Without a process id: in a sandbox the server cannot see that process and would exit.
 */
export const initializeParams = (root: string): object => {
  const uri = uriOf(root);
  return {
    processId: null,
    clientInfo: { name: 'dossier' },
    rootUri: uri,
    rootPath: root,
    workspaceFolders: [{ uri, name: basename(root) }],
    initializationOptions: { disableAutomaticTypingAcquisition: true },
    capabilities: CAPABILITIES,
  };
};

export const uriOf = (path: string): string => pathToFileURL(path).href;

const MARKUP = { contentFormat: ['markdown', 'plaintext'] };

const CAPABILITIES = {
  workspace: {
    applyEdit: true,
    configuration: true,
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
  },
  window: { workDoneProgress: true },
  textDocument: {
    synchronization: { didSave: true },
    completion: {
      completionItem: {
        snippetSupport: false,
        documentationFormat: ['markdown', 'plaintext'],
        insertReplaceSupport: false,
        labelDetailsSupport: true,
      },
      contextSupport: true,
    },
    hover: MARKUP,
    signatureHelp: { signatureInformation: { documentationFormat: ['markdown', 'plaintext'] } },
    declaration: {},
    definition: {},
    typeDefinition: {},
    implementation: {},
    references: {},
    documentHighlight: {},
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    codeAction: {
      codeActionLiteralSupport: {
        codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source'] },
      },
    },
    formatting: {},
    rangeFormatting: {},
    rename: { prepareSupport: true },
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
  },
};
