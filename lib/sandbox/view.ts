/** A network namespace of its own, whose only connection to the machine is the relay. */
export interface OwnNetwork {
  /** The directory with the sockets of this run; inside it is `NET_DIR`, read-only. */
  dir: string;
  /** The relay's command, which precedes the program's own: absolute paths outside. */
  relay: readonly string[];
}

/** Where `OwnNetwork.dir` is mounted inside. */
export const NET_DIR = '/tmp/.dossier-net';

export interface SandboxView {
  /** The worktree, where the program starts: read-only in Plan mode, writable in Work mode. */
  cwd: string;
  phase: 'plan' | 'work';
  /** Writable in Work mode, read-only in Plan mode: the repository's common git directory. */
  writable: readonly string[];
  /** Empty directories, or files that cannot be opened, even inside a writable directory. A worktree inside one stays visible. */
  hidden: readonly string[];
  /** Empty except for what another rule or `sandbox_readable` shows in them: the main checkout. */
  covered?: readonly string[];
  /** Writable in both modes: the agent's sessions and settings. Missing directories are created. */
  state?: readonly string[];
  /** Read-only even inside a writable directory (hooks, git configuration), and visible in /tmp. */
  readable?: readonly string[];
  /** `host`: the machine's network with its loopback. Else a network namespace with the relay. */
  network: 'host' | OwnNetwork;
  /** Mounts over other paths, in both modes. */
  binds?: readonly Bind[];
  /** bubblewrap reports to descriptor 3 whether it has started the program; see `ProgramSpec.reports`. */
  reports?: boolean;
  /** The program shares the operator's terminal, and so stays in its session; see seccomp.ts. */
  terminal?: boolean;
}

/** Mounts a file or directory over another path of the same kind. */
export interface Bind {
  from: string;
  to: string;
  write: boolean;
}
