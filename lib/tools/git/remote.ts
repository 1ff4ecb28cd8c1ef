import { ServiceError } from '../../errors.ts';
import type { Place, Runner, RunOptions } from './git.ts';

/** How long a remote may take to answer a question; a push has as long as any other write. */
const ASK_MS = 30_000;

/**
 * Where a branch is pushed to: as `branch.<name>.pushRemote` or `remote.pushDefault` say, else `origin`, else the only
 * remote there is. Undefined where none of these is there.
 */
export const pushRemote = async (
  git: Runner,
  place: Place,
  branch: string,
): Promise<string | undefined> => {
  const { stdout } = await git.run(place, ['remote'], { read: true });
  const remotes = stdout.toString('utf8').split('\n').filter(Boolean);
  const named = [
    await setting(git, place, `branch.${branch}.pushRemote`),
    await setting(git, place, 'remote.pushDefault'),
    'origin',
    remotes.length === 1 ? remotes[0] : undefined,
  ];
  return named.find((name) => name !== undefined && remotes.includes(name));
};

const setting = async (git: Runner, place: Place, key: string): Promise<string | undefined> => {
  const { code, stdout } = await git.run(place, ['config', '--get', key], {
    read: true,
    ok: [0, 1],
  });
  return code === 0 ? stdout.toString('utf8').trimEnd() : undefined;
};

/** The commit that a ref of the remote names now; null when there is no such ref. Throws when nobody answers. */
export const remoteCommit = async (
  git: Runner,
  place: Place,
  { remote, ref }: { remote: string; ref: string },
): Promise<string | null> => {
  const args = ['ls-remote', '--quiet', OWN_PROGRAM, '--', remote, ref];
  const { stdout } = await asked(git, place, args, { read: true });
  const lines = stdout.toString('utf8').split('\n');
  const line = lines.find((each) => each.endsWith(`\t${ref}`));
  return line?.split('\t', 1)[0] ?? null;
};

/** Fetches one branch of a remote into where git keeps it. Throws when nobody answers, or there is no such branch. */
export const fetchBranch = async (
  git: Runner,
  place: Place,
  { remote, branch }: { remote: string; branch: string },
): Promise<void> => {
  const refspec = `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`;
  await asked(git, place, ['fetch', '--quiet', '--no-tags', OWN_PROGRAM, '--', remote, refspec]);
};

// Of two settings git takes the first, which may be the repository's: only an argument comes before it.
const OWN_PROGRAM = '--upload-pack=git-upload-pack';

const asked = async (
  git: Runner,
  place: Place,
  args: readonly string[],
  options: RunOptions = {},
) => {
  const { code, stdout, stderr } = await git.run(place, args, {
    ...options,
    ok: [0, 1, 128],
    timeout_ms: ASK_MS,
  });
  if (code !== 0) throw remoteProblem(stderr);
  return { stdout };
};

/** What the operator is told when a remote does not do what was asked, from git's own words. */
export const remoteProblem = (said: string): ServiceError => {
  const [code, advice] = PROBLEMS.find(([, , pattern]) => pattern.test(said)) ?? [
    'git_failed' as const,
    '',
  ];
  return new ServiceError(code, `${wordsOf(said)}${advice === '' ? '' : ` ${advice}`}`);
};

type Problem = readonly [
  code: 'remote_auth_failed' | 'unavailable' | 'tool_timeout' | 'git_failed',
  advice: string,
  pattern: RegExp,
];

const PROBLEMS: readonly Problem[] = [
  ['git_failed', 'The server failed: try again later.', /returned error: 5\d\d/],
  [
    'remote_auth_failed',
    'Look at what you push with: git credential fill, or ssh -T, shows it. Then try again.',
    /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|Host key verification failed|returned error: 40[13]|Access denied/i,
  ],
  [
    'remote_auth_failed',
    'It may be there and not be shown to you: look at its address and at your credentials.',
    /repository .* not found|returned error: 404/i,
  ],
  ['tool_timeout', 'Try again when it answers.', /timed out/i],
  [
    'unavailable',
    'The remote is out of reach: look at its address (git remote -v) and the network, then try again.',
    /Could not resolve|Failed to connect|Connection (?:refused|reset|closed)|unable to access|Could not read from remote|does not appear to be a git repository|hung up|early EOF|RPC failed|unreachable|no such device/i,
  ],
];

const wordsOf = (said: string): string =>
  withoutPasswords(said)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:hint:|To )/.test(line))
    .slice(0, 4)
    .join(' ')
    .slice(0, 600) || 'The remote did not answer as git expects.';

const withoutPasswords = (text: string): string => text.replaceAll(/:\/\/[^/\s@]+@/g, '://');
