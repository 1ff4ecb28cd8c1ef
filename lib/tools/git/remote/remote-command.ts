import type { GitAt, GitResult, RunOptions, Setting } from '../run/git.ts';

import type { Credentials, RemoteAddress } from './remote-address.ts';
import { remoteProblem } from './remote-error.ts';

interface Question {
  remote: RemoteAddress;
  /** `ls-remote`, `fetch` or `push`, with options. */
  args: readonly string[];
  /** The arguments after the address. */
  refs: readonly string[];
  /** Milliseconds. */
  timeout_ms: number;
}

/**
 * Runs one command that talks to a remote. Never prompts, and uses no program or login from the repository's configuration.
 * Failures have a code `codehost_…`. A refused push does not throw.
 */
export const runRemoteCommand = async (
  git: GitAt,
  { remote, args, refs, timeout_ms }: Question,
): Promise<GitResult> => {
  const isPush = args[0] === 'push';
  const { url, credentials } = remote;
  const options: RunOptions = {
    remote: true,
    // Only http asks credential helpers. The hooks of a repository by path inherit git's environment.
    tokens: /^https?:/i.test(url),
    timeout_ms,
    settings: [...exactly(url), ...PATIENCE, ...login(remote)],
    env: secrets(credentials),
    ok: isPush ? [0, 1] : [0],
  };
  try {
    const all = [...args, isPush ? OWN_RECEIVER : OWN_SENDER, '--', url, ...refs];
    return await git.run(all, options);
  } catch (error) {
    throw remoteProblem(error, remote);
  }
};

// An argument has precedence over the repository's configuration, which could name a program here.
const OWN_SENDER = '--upload-pack=git-upload-pack';
const OWN_RECEIVER = '--receive-pack=git-receive-pack';

// The address is already rewritten. The longest `insteadOf` wins, so this keeps git from rewriting it again.
const exactly = (url: string): Setting[] => [
  [`url.${url}.insteadOf`, url],
  [`url.${url}.pushInsteadOf`, url],
];

// Ends a stalled transfer long before the time limit.
const PATIENCE: readonly Setting[] = [
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
];

// By environment: every user of the machine can read arguments. Only for this origin, not for a redirect.
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
