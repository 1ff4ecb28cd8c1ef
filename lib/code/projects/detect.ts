import type { Detection } from '../../../store/records/code-host.ts';
import type { CodeHostSettings } from '../../../store/records/settings.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import { isCodeHost } from '../../codehost/github/address.ts';
import { parseRemoteUrl, type RemoteUrl } from '../../codehost/remote-url.ts';
import type { Config } from '../../config.ts';
import {
  onlyProjectName,
  requireTrustedCodeHost,
  requireTrustedProject,
} from '../../guard/trust/require.ts';
import {
  type ConfiguredRemote,
  type RemoteSettings,
  remoteSettings,
} from '../../tools/git/read/remotes.ts';
import { redacted } from '../../tools/git/run/error.ts';
import type { GitPlace, GitSource } from '../../tools/git/run/git.ts';
import { cleanEnvironment, loginEnvironment } from '../../tools/process/environment.ts';
import { createGh } from '../../tools/process/gh.ts';
import { sshHost } from '../../tools/process/system-programs.ts';
import { chooseRemotes, type KnownRemote } from './choose-remotes.ts';
import type { ProjectNeeds } from './project.ts';
import { findProjectRepository, repositoryFor } from './project.ts';

/** A project and the local information about it. */
interface DetectionInput {
  git: GitSource;
  env: Config['env'];
  settings: CodeHostSettings;
  project: string;
  /** Whether it is the default project. */
  isDefault: boolean;
  /** Its git repository; not needed if the settings name the repository on the host. */
  place: GitPlace | undefined;
  /** The branch to push. */
  branch?: string | undefined;
}

/**
 * Detects a project's repository on the code host from git's configuration, ssh's configuration and the settings, without
 * network access. 404 `codehost_no_remote` lists every remote with the reason; 422 `trust_needed` while a relevant
 * setting is untrusted.
 */
export const detect = async (
  service: ProjectNeeds,
  project = 'default',
  branch?: string,
): Promise<Detection> => {
  requireTrustedCodeHost(service.store);
  requireTrustedProject(service, project);
  const { git, config, store } = service;
  const settings = settingsOf(store).codehost ?? {};
  const isDefault = ['default', onlyProjectName(service)].includes(project);
  const isNamed = settings.repository !== undefined && isDefault;
  const place = isNamed
    ? await findProjectRepository(service, project)
    : await repositoryFor(service, project);
  return detectOn({ git, env: config.env, settings, project, isDefault, place, branch });
};

/** Like `detect`, without a daemon. */
export const detectOn = async (input: DetectionInput): Promise<Detection> => {
  const { git, env, settings, project, isDefault, place, branch } = input;
  const configured = place === undefined ? NONE : await remoteSettings(git.at(place));
  const gh = createGh(env);
  const isHost = (host: string): boolean => isCodeHost(host, settings, gh);
  const known = await Promise.all(configured.remotes.map((remote) => know(env, remote, isHost)));
  return chooseRemotes({ project, isDefault, settings, configured, known, branch });
};

const NONE: RemoteSettings = { remotes: [], push_default: undefined, push_remotes: new Map() };

type IsHost = (host: string) => boolean;

const know = async (
  source: Config['env'],
  remote: ConfiguredRemote,
  isHost: IsHost,
): Promise<KnownRemote> => {
  const env = cleanEnvironment(source, loginEnvironment(source));
  const settle = async (address: RemoteUrl): Promise<RemoteUrl> => {
    if ('why' in address || isHost(address.host)) return address;
    const meant = address.by === 'ssh' ? await sshHost(address.host, env) : undefined;
    const host = meant === 'ssh.github.com' ? 'github.com' : meant;
    return host !== undefined && isHost(host) ? { ...address, host } : unknown(address.host);
  };
  const written = await settle(parseRemoteUrl(remote.url));
  const at =
    'why' in written ? await firstOf(written, settle(parseRemoteUrl(remote.rewritten))) : written;
  const push = remote.push_url === remote.url ? at : await settle(parseRemoteUrl(remote.push_url));
  const [url, push_url] = [redacted(remote.url), redacted(remote.push_url)];
  return { name: remote.name, url, push_url, at, push };
};

/** The address after git's `insteadOf` rewriting, if it is valid; else the error of the URL as written. */
const firstOf = async (written: RemoteUrl, rewritten: Promise<RemoteUrl>): Promise<RemoteUrl> => {
  const address = await rewritten;
  return 'why' in address ? written : address;
};

const unknown = (host: string): RemoteUrl => ({
  why: `is on ${host}, which is not a known code host: set it as codehost.host in workspace.md, or log in to it with gh`,
});
