import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What the daemon says of itself for all clients of a server. It offers what every editor has; texts are plain, without
 * placeholders to be filled in. No process id: shut in, the server could not see it, and would end.
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
