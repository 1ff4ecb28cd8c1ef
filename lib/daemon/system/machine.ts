import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { leftToCompare } from '../../../store/reconcile/items.ts';
import type { Health, Machine } from '../../../store/records/system.ts';
import type { WithStore } from '../../../store/store.ts';
import { detectCapabilities } from '../../sandbox/capabilities.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Service } from '../../service.ts';

/** Describes the directories, the disk and the missing protections of this machine, which the daemon logs at its start. */
export const describeMachine = ({ store, sandbox }: Service): Machine => {
  const { root } = store.layout;
  const { bavail, blocks, bsize } = statfsSync(root);
  return {
    workspace: root,
    internals: join(root, '.dossier'),
    disk: { free: bavail * bsize, total: blocks * bsize },
    unheld: missingProtections({ ...detectCapabilities(), sandbox: sandbox() }),
  };
};

/** Answers at any time, and says how far the comparison of the start is. */
export const describeHealth = ({ store }: WithStore): Health => {
  const left = leftToCompare(store);
  return { status: 'ok', ...(left !== undefined && { comparing: { left } }) };
};

/** What this system offers for isolation. */
export type Capabilities = ReturnType<typeof detectCapabilities> & {
  sandbox: Pick<Sandbox, 'kind' | 'reason' | 'untried'>;
};

/** A missing protection and its consequence. */
interface MissingProtection {
  about: string;
  sentence: string;
}

/** Lists the protections that this system cannot provide, with a sentence for each. */
export const missingProtections = (ground: Capabilities): MissingProtection[] =>
  Object.entries(SENTENCES).flatMap(([about, sayOf]) => {
    const sentence = sayOf(ground);
    return sentence === undefined ? [] : [{ about, sentence }];
  });

const NO_SANDBOX =
  'an agent can read and write what you can, and reach this API. Changes in Plan mode are detected and undone afterwards. Decisions that it writes into files need dossier trust. Its calls are refused where the daemon can tell them from yours';

type Sentence = (ground: Capabilities) => string | undefined;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  bubblewrap: ({ sandbox: { kind, reason } }) =>
    kind === 'none' ? `${reason ?? 'There is no sandbox.'} Without it ${NO_SANDBOX}.` : undefined,
  // Could not be prepared: nothing runs outside it either.
  sandbox: ({ sandbox: { kind, reason } }) => (kind === 'none' ? undefined : reason),
  namespaces: ({ sandbox, namespaces, container }) =>
    sandbox.kind === 'none' && namespaces === false
      ? `User namespaces are disabled, and bubblewrap needs them: ${container ? ALLOW_IN_CONTAINER : ALLOW}.`
      : undefined,
  container: ({ sandbox, container }) =>
    sandbox.kind === 'none' && container
      ? 'This container is the only boundary of agents, because it has no sandbox inside. Give it only the workspace, the repository and the login that the agent needs.'
      : undefined,
  macOS: ({ platform, sandbox }) =>
    platform === 'darwin'
      ? `macOS has neither bubblewrap nor /proc: runs share the network of this machine, and the file rules of unsandboxed runs always apply. sandbox: seatbelt ${sandbox.untried === true ? 'is on, and untested' : 'can be tried'}.`
      : undefined,
  '/proc': ({ proc, platform }) =>
    proc || platform === 'darwin'
      ? undefined
      : 'There is no /proc: the daemon can identify neither callers of the API nor processes that a run left behind. While an agent runs without a sandbox, calls need an API key.',
  cgroup: ({ platform, cgroups: { cgroup, limits } }) => {
    if (platform !== 'linux' || limits) return undefined;
    return cgroup
      ? 'Memory of runs is not limited, nor are processes outside a sandbox: the system delegates no cgroup controllers.'
      : 'Runs have no cgroup: there is no limit of memory, nor of processes outside a sandbox, and the processes of a run are found by other means when it ends.';
  },
  root: ({ uid }) =>
    uid === 0
      ? 'The daemon runs as root: in the sandbox an agent is another user without capabilities, but without a sandbox it has full access to this machine. Run the daemon as another user.'
      : undefined,
};

const ALLOW =
  'see kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns';
const ALLOW_IN_CONTAINER =
  'the container needs a seccomp profile that allows them (and /proc unmasked)';
