import { headCommit } from '../read/repository.ts';
import { DAEMON } from '../run/author.ts';
import { type ConfigEntry, scopedEntries } from '../run/config-text.ts';
import type { GitAt, GitWorktree, RunOptions } from '../run/git.ts';
import { FROM_INPUT, nulls } from '../run/index-file.ts';
import type { Setting } from '../run/settings.ts';

export interface FilesCommit {
  /** From the top of the worktree, each byte a character. */
  paths: readonly string[];
  message: string;
}

/**
 * Commits these files as they are, new and removed ones too, whatever is staged of others, in the operator's name, and
 * signed where their git signs. No hook runs. Answers the commit. Throws what git says, as where signing would ask.
 */
export const commitFiles = async (
  git: GitAt<GitWorktree>,
  { paths, message }: FilesCommit,
): Promise<string> => {
  const options = await asTheOperator(git);
  const input = nulls(paths);
  await git.run(['add', '--all', '--sparse', ...FROM_INPUT], { input });
  const args = ['commit', '--only', '--quiet', '--cleanup=whitespace', `--message=${message}`];
  await git.run([...args, ...FROM_INPUT], { ...options, input });
  return (await headCommit(git)) ?? '';
};

const asTheOperator = async (git: GitAt<GitWorktree>): Promise<RunOptions> => {
  const args = ['config', '--list', '-z', '--show-scope', '--includes'];
  const all = scopedEntries((await git.read(args)).toString('latin1'));
  const entries = all.filter(({ scope }) => scope !== 'command');
  const named = ['user.name', 'user.email'].every((key) => saidOf(entries, key) !== undefined);
  const env = named ? {} : DAEMON;
  if (!TRUE.test(saidOf(entries, 'commit.gpgsign') ?? 'false')) return { env };
  const settings: Setting[] = [['commit.gpgSign', 'true'], ...signersOf(entries)];
  return { settings, env: { ...env, ...UNASKED }, timeout_ms: SIGNING_MS };
};

// A key without a value is true to git.
const saidOf = (entries: readonly ConfigEntry[], key: string): string | undefined => {
  const found = entries.findLast((entry) => entry.key === key);
  return found && (found.value ?? 'true');
};

const TRUE = /^(?:true|yes|on|[1-9]\d*)$/i;

// Which program signs is the operator's to say: the repository's own settings can name any.
const signersOf = (entries: readonly (ConfigEntry & { local: boolean })[]): Setting[] =>
  Object.entries(SIGNERS)
    .filter(([key]) => entries.some((entry) => entry.local && entry.key === key))
    .map(([key, usual]) => {
      const own = entries.filter(({ local }) => !local);
      return [key, saidOf(own, key) ?? usual];
    });

const SIGNERS: Readonly<Record<string, string>> = {
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.x509.program': 'gpgsm',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.ssh.defaultkeycommand': 'false',
};

// What would ask for a passphrase fails, and what waits for a person all the same is not waited for.
const UNASKED = {
  ...{ DISPLAY: '', WAYLAND_DISPLAY: '', GPG_TTY: '' },
  ...{ SSH_ASKPASS: '', SSH_ASKPASS_REQUIRE: 'never' },
};
const SIGNING_MS = 20_000;
