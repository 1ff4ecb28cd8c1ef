/** What the daemon stands on here. */
export interface Ground {
  platform: NodeJS.Platform;
  /** Undefined where users have no numbers. */
  uid: number | undefined;
  /** There is a /proc that tells of processes and sockets. */
  proc: boolean;
  container: boolean;
  /** User namespaces may be made; undefined where the system does not say. */
  namespaces: boolean | undefined;
  cgroups: { cgroup: boolean; limits: boolean };
  sandbox: { kind: 'bubblewrap' | 'none'; reason?: string; untried?: true };
}

/** What cannot be had here, and what follows from it. */
interface Unheld {
  about: string;
  sentence: string;
}

/** What of the boundary cannot be had on this ground, in a sentence each; none where all of it can. */
export const unheldOn = (ground: Ground): Unheld[] =>
  Object.entries(SENTENCES).flatMap(([about, sayOf]) => {
    const sentence = sayOf(ground);
    return sentence === undefined ? [] : [{ about, sentence }];
  });

const NO_SANDBOX =
  'an agent can read and write what you can, and reach this API: what it changes in Plan mode is found and undone after, what it writes into files in your place waits for dossier trust, and its calls are refused as far as they can be told from yours';

type Sentence = (ground: Ground) => string | undefined;

const SENTENCES: Readonly<Record<string, Sentence>> = {
  bubblewrap: ({ sandbox: { kind, reason } }) =>
    kind === 'none' ? `${reason ?? 'There is none.'} Without it ${NO_SANDBOX}.` : undefined,
  namespaces: ({ sandbox, namespaces, container }) =>
    sandbox.kind === 'none' && namespaces === false
      ? `User namespaces are off here, and bubblewrap needs them: ${container ? ALLOW_IN_CONTAINER : ALLOW}.`
      : undefined,
  container: ({ sandbox, container }) =>
    sandbox.kind === 'none' && container
      ? 'This is a container, and without a sandbox in it the only boundary, so give it nothing but the workspace, the repository and the one login that the agent needs.'
      : undefined,
  macOS: ({ platform, sandbox }) =>
    platform === 'darwin'
      ? `Here is neither bubblewrap nor /proc: no run has a network of its own, and the file rules of unsandboxed runs hold always. sandbox: seatbelt ${sandbox.untried === true ? 'is on, and untried' : 'can be tried'}.`
      : undefined,
  '/proc': ({ proc, platform }) =>
    proc || platform === 'darwin'
      ? undefined
      : 'There is no /proc: who calls the API cannot be told, nor which processes a run left behind. While an agent runs that no sandbox holds, calls need a key.',
  cgroup: ({ platform, cgroups: { cgroup, limits } }) => {
    if (platform !== 'linux' || limits) return undefined;
    return cgroup
      ? 'A run has a cgroup that it is ended by, but no limit of processes and memory: the system hands on no controllers.'
      : 'No run is given a cgroup: it has no limit of processes and memory of its own, and is ended by looking for what belongs to it.';
  },
  root: ({ uid }) =>
    uid === 0
      ? 'The daemon runs as root: in the sandbox an agent is another user without capabilities, but outside of it nothing of this machine is kept from it. A user of its own is better.'
      : undefined,
};

const ALLOW =
  'see kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns';
const ALLOW_IN_CONTAINER =
  'the container needs a seccomp profile that allows them (and /proc unmasked)';
