import type { Detection, RemoteRepository } from '../../../store/records/code-host.ts';
import type { CodeHostSettings } from '../../../store/records/settings.ts';
import { repositoryNamed } from '../../codehost/code-host.ts';
import { GITHUB } from '../../codehost/github/address.ts';
import type { RemoteUrl } from '../../codehost/remote-url.ts';
import { ServiceError } from '../../errors.ts';
import type { RemoteSettings } from '../../tools/git/read/remotes.ts';

/** A remote, with the repositories of its fetch and push URLs. */
export interface KnownRemote {
  name: string;
  /** Both URLs are without credentials. */
  url: string;
  push_url: string;
  at: RemoteUrl;
  push: RemoteUrl;
}

interface RemoteChoice {
  project: string;
  /** Whether it is the default project. */
  isDefault: boolean;
  settings: CodeHostSettings;
  configured: RemoteSettings;
  known: readonly KnownRemote[];
  /** The branch to push. */
  branch: string | undefined;
}

/**
 * Chooses, among the remotes on a code host, the one for pull requests and the one to push to. In this order: the
 * settings; the choice of `gh repo set-default`; a remote named upstream, github or origin; the first.
 */
export const chooseRemotes = (choice: RemoteChoice): Detection => {
  const candidates = choice.known.flatMap(({ name, url, at }) => repositoryAt(at, name, url));
  const said = saidBase(choice, candidates);
  const base = said ?? likeliest(candidates);
  if (base === undefined) throw noRemote(choice);
  const push = pushedTo(choice) ?? base;
  const several = new Set(candidates.map(identity)).size > 1;
  const { host, owner, name, remote } = base;
  return {
    host,
    owner,
    name,
    remote,
    base,
    push,
    candidates,
    ambiguous: said === undefined && several,
  };
};

const repositoryAt = (at: RemoteUrl, remote: string, url: string): RemoteRepository[] => {
  if ('why' in at) return [];
  const { host, owner, name } = at;
  return [{ host, owner, name, remote, url }];
};

const identity = ({ host, owner, name }: RemoteRepository): string =>
  `${host}/${owner}/${name}`.toLowerCase();

const saidBase = (
  choice: RemoteChoice,
  candidates: readonly RemoteRepository[],
): RemoteRepository | undefined => {
  const { isDefault, settings } = choice;
  if (settings.repository !== undefined && isDefault)
    return named(settings.repository, settings.host ?? GITHUB, candidates);
  if (settings.base_remote !== undefined) {
    const found = candidates.find(({ remote }) => remote === settings.base_remote);
    if (found === undefined && isDefault) throw noRemote(choice, settings.base_remote);
    if (found !== undefined) return found;
  }
  return resolved(choice, candidates);
};

/** The repository with this name, and its remote if there is one. */
const named = (
  full_name: string,
  on: string,
  candidates: readonly RemoteRepository[],
): RemoteRepository => {
  const wanted = { ...repositoryNamed(on.toLowerCase(), full_name), remote: null, url: null };
  return candidates.find((each) => identity(each) === identity(wanted)) ?? wanted;
};

// `gh` stores at a remote that it is the base, or which repository is.
const resolved = (
  { configured }: RemoteChoice,
  candidates: readonly RemoteRepository[],
): RemoteRepository | undefined => {
  const meant = configured.remotes.map(({ name, resolved: note }) => {
    const remote = candidates.find((each) => each.remote === name);
    return note === undefined || remote === undefined ? undefined : noted(note, remote, candidates);
  });
  return meant.find((each) => each !== undefined);
};

const noted = (
  note: string,
  remote: RemoteRepository,
  candidates: readonly RemoteRepository[],
): RemoteRepository | undefined => {
  if (note === 'base') return remote;
  const [, host = remote.host, full_name] = /^(?:([^/]+)\/)?([^/]+\/[^/]+)$/.exec(note) ?? [];
  return full_name === undefined ? undefined : named(full_name, host, candidates);
};

const USUAL = ['upstream', 'github', 'origin'];

const likeliest = (candidates: readonly RemoteRepository[]): RemoteRepository | undefined => {
  const usual = USUAL.map((name) => candidates.find(({ remote }) => remote === name));
  return [...usual, candidates[0]].find((each) => each !== undefined);
};

const pushedTo = ({
  settings,
  configured,
  known,
  branch = '',
}: RemoteChoice): RemoteRepository | undefined => {
  const targets = known.flatMap(({ name, push_url, push }) => repositoryAt(push, name, push_url));
  const wanted = [
    settings.push_remote,
    configured.push_remotes.get(branch),
    configured.push_default,
    'origin',
  ];
  return wanted
    .map((name) => targets.find(({ remote }) => remote === name))
    .find((each) => each !== undefined);
};

const noRemote = ({ project, known }: RemoteChoice, wanted?: string): ServiceError => {
  const remotes = known.map(({ name, url, at }) => ({
    name,
    url,
    reason: 'why' in at ? at.why : 'is on a code host',
  }));
  const each = remotes.map(({ name, reason }) => `${name} ${reason}.`).join(' ');
  const what =
    wanted === undefined
      ? `No remote of the project ${project} is on a code host.`
      : `The setting base_remote names ${wanted}, but there is no such remote on a code host.`;
  const there = each === '' ? 'There is no remote.' : each;
  const free = ['origin', 'upstream'].find((name) => !known.some((one) => one.name === name));
  return new ServiceError(
    'codehost_no_remote',
    `${what} ${there} Add one (git remote add ${free ?? 'NAME'} …), or name the repository in workspace.md under codehost.`,
    { members: { remotes } },
  );
};
