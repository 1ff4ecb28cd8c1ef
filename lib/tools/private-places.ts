import { join } from 'node:path';
import type { Environment } from './environment.ts';

/**
 * Where keys, passwords and the doors to other programs of the user's are: no agent needs them, and none is shown them.
 * A socket in a read-only directory can be talked to all the same, and what answers there runs outside of the sandbox.
 */
export const privatePlaces = ({ HOME }: Partial<Environment>): string[] => [
  ...(HOME === undefined ? [] : AT_HOME.map((name) => join(HOME, name))),
  ...DOORS,
];

const AT_HOME = [
  ...['.ssh', '.gnupg', '.netrc', '.git-credentials', '.config/git/credentials', '.config/gh'],
  ...['.aws', '.azure', '.config/gcloud', '.kube', '.docker', '.password-store'],
  ...['.local/share/keyrings', '.mozilla', '.config/google-chrome', '.config/chromium'],
];

const DOORS = [
  ...['/run/user', '/run/dbus', '/run/systemd/private'],
  ...['/run/docker.sock', '/run/containerd', '/run/podman'],
];
