import type { SyncedAll } from '../../../store/records/sync.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

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

/** What most of this room's work is given. */
export type LinkNeeds = WithCodeHost & WithConfig & WithGit & WithLinks & WithLog & WithStore;

/** Why a long job cannot go on, and when there is a point in trying again. */
type Halt = NonNullable<SyncedAll['stopped']>;

/** An error of the code host as the reason to stop; undefined for what is no answer of this service's. */
export const haltOf = (error: unknown, now: Date): Halt | undefined => {
  if (!(error instanceof ServiceError)) return undefined;
  const { code, message: detail, members, headers } = error;
  if (code !== 'codehost_rate_limited') return { code, detail, resume_at: null };
  const seconds = Number(headers['retry-after'] ?? FEW_SECONDS);
  const later = new Date(now.getTime() + seconds * 1000).toISOString();
  const { reset_at = later } = members as { reset_at?: string };
  return { code, detail, resume_at: reset_at };
};

const FEW_SECONDS = 60;
