import { StoreError } from '../base/errors.ts';
import { makeDirectories } from '../fs/directories.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { lockWorkspace } from './daemon-lock.ts';
import { refuseNewer, upgrade } from './format.ts';

/** A workspace that this process alone may write to, and has not read. */
export interface HeldWorkspace {
  readonly layout: Layout;
  /** Throws `read_only` when the lock was lost: before every step that writes. */
  check(): void;
  release(): Promise<void>;
}

/** Takes the lock of a workspace, as the daemon does. Throws WorkspaceHeldError when another process has it. */
export const holdWorkspace = async (root: string): Promise<HeldWorkspace> => {
  const layout = layoutOf(root);
  refuseNewer(layout);
  makeDirectories(layout);
  let isLost = false;
  const lock = await lockWorkspace(layout, {
    lost: () => {
      isLost = true;
    },
    // Who had it in between may have changed anything.
    regained: () => undefined,
  });
  await upgrade(layout);
  return {
    layout,
    check: () => {
      if (isLost)
        throw new StoreError(
          'read_only',
          'Another process took the workspace meanwhile. Nothing more was written; run this again.',
        );
    },
    release: () => lock.release(),
  };
};
