import type { SyncedAll } from '../../../store/records/sync.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

/** A running import job. */
interface ImportRun {
  /** Stops creating Work items; resolves when the run has ended. */
  stop(): Promise<void>;
}

/** Background work between Work items and their issues. */
interface LinkWork {
  /** By import job. */
  readonly imports: Map<string, ImportRun>;
  /** True while a sync of all Work items runs; only one runs at a time. */
  syncingAll: boolean;
  /** Stops all imports and leaves them `pending`. */
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

/** Running imports, and whether a sync of all Work items runs. */
export interface WithLinks {
  readonly links: LinkWork;
}

/** The services that most functions of this room need. */
export type LinkNeeds = WithCodeHost & WithConfig & WithGit & WithLinks & WithLog & WithStore;

/** Why a long job stopped, and when trying again can succeed. */
type Halt = NonNullable<SyncedAll['stopped']>;

/** The reason to stop for an error of the code host; undefined for any other error. */
export const stopReasonOf = (error: unknown, now: Date): Halt | undefined => {
  if (!(error instanceof ServiceError)) return undefined;
  const { code, message: detail, members, headers } = error;
  if (code !== 'codehost_rate_limited') return { code, detail, resume_at: null };
  const seconds = Number(headers['retry-after'] ?? FEW_SECONDS);
  const later = new Date(now.getTime() + seconds * 1000).toISOString();
  const { reset_at = later } = members as { reset_at?: string };
  return { code, detail, resume_at: reset_at };
};

const FEW_SECONDS = 60;

/** Whether the host answered with what cannot be used: its next answer may be usable, unlike that of a host that fails. */
export const isUnusable = ({ code, members }: ServiceError): boolean =>
  code === 'codehost_upstream' && members.host_status === 200;
