import type { GitAt, GitResult, RunOptions, Setting } from '../run/git.ts';

import { addressOf, type Credentials, type RemoteAddress } from './remote-address.ts';
import { remoteProblem } from './remote-error.ts';

/** A remote by its name in the repository's configuration, or by its address. */
export type Remote = string | RemoteAddress;

interface Question {
  remote: Remote;
  /** `ls-remote`, `fetch` or `push` with its options. */
  args: readonly string[];
  /** What follows the address. */
  refs: readonly string[];
  /** Milliseconds. */
  timeout_ms: number;
}

/**
 * One command that talks to a remote. Nothing asks, no setting of the repository starts a program or lends a login, and
 * every failure has a code: `codehost_…`. A push that is refused is an answer.
 */
export const talk = async (
  git: GitAt,
  { remote, args, refs, timeout_ms }: Question,
): Promise<GitResult & { address: RemoteAddress }> => {
  const isPush = args[0] === 'push';
  const address =
    typeof remote === 'string' ? await addressOf(git, remote, isPush ? 'push' : 'fetch') : remote;
  const { url, credentials } = address;
  const options: RunOptions = {
    remote: true,
    timeout_ms,
    settings: [...exactly(url), ...PATIENCE, ...login(address)],
    env: secrets(credentials),
    ok: isPush ? [0, 1] : [0],
  };
  try {
    const all = [...args, isPush ? OWN_RECEIVER : OWN_SENDER, '--', url, ...refs];
    return { ...(await git.run(all, options)), address };
  } catch (error) {
    throw remoteProblem(error, address);
  }
};

// Of two settings git takes the first, which may be the repository's: only an argument comes before it.
const OWN_SENDER = '--upload-pack=git-upload-pack';
const OWN_RECEIVER = '--receive-pack=git-receive-pack';

// The address was rewritten already: the longest match wins, and none is longer than the whole.
const exactly = (url: string): Setting[] => [
  [`url.${url}.insteadOf`, url],
  [`url.${url}.pushInsteadOf`, url],
];

// A transfer that has come to a stop is ended long before the time of the whole is over.
const PATIENCE: readonly Setting[] = [
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
];

// Told by the environment: an argument can be read by everybody on the machine. Only for this server, not for one
// that it leads on to.
const login = ({ url, credentials }: RemoteAddress): Setting[] => {
  const [origin] = /^https?:\/\/[^/]+/.exec(url) ?? [];
  if (credentials === undefined || origin === undefined) return [];
  if (credentials.password === undefined)
    return [[`credential.${origin}.username`, credentials.username]];
  return [
    ['credential.helper', ''],
    [`credential.${origin}.helper`, ANSWER],
  ];
};

const ANSWER =
  '!f() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$DOSSIER_GIT_USERNAME" "$DOSSIER_GIT_PASSWORD"; }; f';

const secrets = (credentials: Credentials | undefined): Record<string, string> =>
  credentials?.password === undefined
    ? {}
    : {
        DOSSIER_GIT_USERNAME: credentials.username,
        DOSSIER_GIT_PASSWORD: credentials.password,
      };
