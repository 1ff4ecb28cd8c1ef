import { StoreError } from '../base/errors.ts';
import { makeDirectories } from '../fs/directories.ts';
import { layoutOf } from '../layout.ts';
import { lockWorkspace } from './daemon-lock.ts';
import { refuseNewer, upgrade } from './format.ts';

/** Acquires the lock of a workspace, as the daemon does. Throws WorkspaceHeldError if another process has it. */
export const holdWorkspace = async (root: string) => {
  const layout = layoutOf(root);
  refuseNewer(layout);
  makeDirectories(layout);
  let isLost = false;
  const lock = await lockWorkspace(layout, {
    lost: () => {
      isLost = true;
    },
    // The holder in between may have changed anything, so the lock stays lost.
    regained: () => undefined,
  });
  await upgrade(layout);
  return {
    layout,
    /** Throws `read_only` if the lock was lost. Call it before each write. */
    check: (): void => {
      if (isLost)
        throw new StoreError(
          'read_only',
          'Another process took over the workspace, so nothing more was written. Run the command again.',
        );
    },
    release: () => lock.release(),
  };
};
/** A workspace whose lock this process holds, without having read it. */
export type HeldWorkspace = Awaited<ReturnType<typeof holdWorkspace>>;
