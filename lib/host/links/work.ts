/** A run of an import job, while it goes on. */
interface ImportRun {
  /** Has it make no further Work item; resolves when it has ended. */
  stop(): Promise<void>;
}

/** What goes on between Work items and their issues. */
export interface LinkWork {
  /** By import job. */
  readonly imports: Map<string, ImportRun>;
  /** One sync of all Work items at a time. */
  syncingAll: boolean;
  /** Stops all imports; each is left `pending`. */
  close(): Promise<void>;
}

export const createLinkWork = (): LinkWork => {
  const imports = new Map<string, ImportRun>();
  return {
    imports,
    syncingAll: false,
    close: async () => {
      await Promise.all([...imports.values()].map(({ stop }) => stop()));
    },
  };
};

/** The imports that are going on, and whether all Work items are being synced. */
export interface WithLinks {
  readonly links: LinkWork;
}
