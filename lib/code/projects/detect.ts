import type { Detection } from '../../../store/records/code-host.ts';
import type { CodeHostSettings } from '../../../store/records/settings.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import { addressIn, type RemoteUrl } from '../../codehost/remote-url.ts';
import type { Config } from '../../config.ts';
import { needCodeHost, needProject, theOnlyProject } from '../../guard/trust/require.ts';
import {
  type ConfiguredRemote,
  type RemoteSettings,
  remoteSettings,
} from '../../tools/git/read/remotes.ts';
import { redacted } from '../../tools/git/run/error.ts';
import type { GitPlace, GitSource } from '../../tools/git/run/git.ts';
import { cleanEnvironment, loginEnvironment } from '../../tools/process/environment.ts';
import { createGh } from '../../tools/process/gh.ts';
import { sshHost } from '../../tools/process/ssh.ts';
import { chooseRemotes, type KnownRemote } from './choose-remotes.ts';
import { findProjectRepository, type ProjectNeeds, repositoryFor } from './project.ts';

/** A project, and what is known of it without asking anybody. */
interface Ground {
  git: GitSource;
  env: Config['env'];
  settings: CodeHostSettings;
  project: string;
  /** It is what is meant where no project is named. */
  isDefault: boolean;
  /** Its git repository; a project whose repository on the host is in the settings needs none. */
  place: GitPlace | undefined;
  /** Which is to be pushed. */
  branch?: string | undefined;
}

/**
 * Which repository on the code host a project is, by git's configuration and the settings alone: nobody is asked, but ssh
 * what its own configuration means by a name. 404 `codehost_no_remote` with every remote and what is wrong with it; 422
 * `trust_needed` while a setting that says where it is waits for the operator's word.
 */
export const detect = async (
  service: ProjectNeeds,
  project = 'default',
  branch?: string,
): Promise<Detection> => {
  needCodeHost(service.store);
  needProject(service, project);
  const { git, config, store } = service;
  const settings = settingsOf(store).codehost ?? {};
  const isDefault = ['default', theOnlyProject(service)].includes(project);
  const isNamed = settings.repository !== undefined && isDefault;
  const place = isNamed
    ? await findProjectRepository(service, project)
    : await repositoryFor(service, project);
  return detectOn({ git, env: config.env, settings, project, isDefault, place, branch });
};

/** The same without a daemon. */
export const detectOn = async (ground: Ground): Promise<Detection> => {
  const { git, env, settings, project, isDefault, place, branch } = ground;
  const configured = place === undefined ? NONE : await remoteSettings(git.at(place));
  const isHost = hostsOf(env, settings);
  const known = await Promise.all(configured.remotes.map((remote) => know(env, remote, isHost)));
  return chooseRemotes({ project, isDefault, settings, configured, known, branch });
};

const NONE: RemoteSettings = { remotes: [], push_default: undefined, push_remotes: new Map() };

type IsHost = (host: string) => boolean;

// By whole names: a token must reach nobody who only looks like a code host.
const hostsOf = (env: Config['env'], { host: named }: CodeHostSettings): IsHost => {
  const logged_in = createGh(env).hosts();
  return (host) =>
    host === 'github.com' ||
    /^[a-z0-9-]+\.ghe\.com$/.test(host) ||
    host === named?.toLowerCase() ||
    logged_in.includes(host);
};

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
  const written = await settle(addressIn(remote.url));
  const at =
    'why' in written ? await firstOf(written, settle(addressIn(remote.rewritten))) : written;
  const push = remote.push_url === remote.url ? at : await settle(addressIn(remote.push_url));
  const [url, push_url] = [redacted(remote.url), redacted(remote.push_url)];
  return { name: remote.name, url, push_url, at, push };
};

/** What git makes of the URL, where that leads anywhere; else what is wrong with the URL as it is written. */
const firstOf = async (written: RemoteUrl, rewritten: Promise<RemoteUrl>): Promise<RemoteUrl> => {
  const address = await rewritten;
  return 'why' in address ? written : address;
};

const unknown = (host: string): RemoteUrl => ({
  why: `is on ${host}, which is not known as a code host: name it in workspace.md as the host under codehost, or log in to it with gh`,
});
