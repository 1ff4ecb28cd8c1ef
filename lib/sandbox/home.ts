import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { isAtOrBelow, isAtOrBelowAny } from '../../store/base/paths.ts';
import type { Environment } from '../tools/process/environment.ts';
import { coveredCheckouts, packagesIn } from './checkout.ts';
import { bind, empty, hide, isDirectory, isLink, linksTo, type Mount, real } from './mounts.ts';

export interface HomeView {
  /** Directories that are empty except for `shown`: homes, /run and the main checkout. */
  hidden: readonly string[];
  /** Visible paths in them, links resolved, none within another. */
  shown: readonly string[];
  mounts: readonly Mount[];
}

interface Needs {
  /** Programs and files that are named; their packages are shown. */
  programs: readonly string[];
  /** Whether the run has the host network, whose name resolution needs files in /run. */
  network: boolean;
  /** Paths visible by another rule: secrets among them are not hidden. */
  given: readonly string[];
  /** Checkouts that are hidden, but for programs in them and packages. */
  covered: readonly string[];
}

/**
 * The visible part of home directories and /run: programs on PATH, known tool chains, git configuration, and paths that the
 * operator names. An allow-list, because a deny-list is never complete.
 */
export const homeView = (env: Environment, readable: readonly string[], needs: Needs): HomeView => {
  const home = env.HOME ?? '/';
  const named = namedPaths(env, readable);
  const whole = real(named);
  const covered = coveredCheckouts(needs.covered, { home, named: whole });
  const hidden = [...new Set([...hiddenPlaces(home), ...covered])];
  const checkoutOf = (path: string) => covered.find((place) => isAtOrBelow(path, place));
  const rootOf = (path: string): string => rootFor(path, checkoutOf(path), home);
  const wanted = [
    ...(home === '/' ? [] : SHOWN_AT_HOME.map((name) => join(home, name))),
    ...LINUXBREW.map((name) => join(BREW, name)),
    ...(env.PATH ?? '').split(delimiter).filter(isAbsolute).flatMap(placesOfPath(rootOf)),
    ...[process.execPath, ...needs.programs].flatMap((path) => placesOfProgram(path, rootOf)),
    ...covered.flatMap(packagesIn),
    ...(needs.network ? ['/etc/resolv.conf'] : []),
    ...named,
  ].filter((path) => existsSync(path));
  const found = wanted
    .map((path) => realpathSync(path))
    .filter((path) => (isBelow(hidden)(path) && !covered.includes(path)) || whole.includes(path));
  // A covered checkout hides what is below it, even in a directory that is shown.
  const shown = [undefined, ...covered].flatMap((checkout) =>
    outermost(found.filter((path) => checkoutOf(path) === checkout)),
  );
  const own = [...named, ...needs.given];
  const secret = secretsIn([home, ...shown.map(rootOf)], shown);
  const links = [home, ...wanted].flatMap((path) => linksTo(path, [...hidden, '/tmp']));
  return {
    hidden,
    shown,
    mounts: [
      ...hidden.map(empty),
      ...(isDirectory(home) && isBelow(hidden)(home)
        ? [{ path: home, arguments: ['--dir', home] }]
        : []),
      ...ownPlaces(home, hidden, shown),
      ...unique(links).filter(({ path }) => !isAtOrBelowAny(path, shown)),
      ...bind('--ro-bind', shown),
      ...secret.filter((path) => !own.includes(path)).map((path) => hide(realpathSync(path))),
    ],
  };
};

const secretsIn = (homes: readonly string[], shown: readonly string[]): string[] =>
  [...new Set(homes)]
    .flatMap((home) => SECRET_AT_HOME.map((name) => join(home, name)))
    .filter((path) => existsSync(path) && isAtOrBelowAny(realpathSync(path), shown));

// A checkout is as a directory of a home: a program in it does not show all of it. The PATH may lead to another user's home.
const rootFor = (path: string, checkout: string | undefined, home: string): string => {
  if (checkout !== undefined) return dirname(checkout);
  if (isAtOrBelow(path, home)) return home;
  return /^\/(?:root|home\/[^/]+)(?=\/|$)/.exec(path)?.[0] ?? home;
};

/** Where a run has its cache. Undefined without a home directory, as in many containers. */
export const cachePlace = ({ HOME = '/' }: Readonly<Record<string, string | undefined>>) =>
  HOME !== '/' && isDirectory(HOME) ? join(HOME, '.cache') : undefined;

/** The absolute paths of a setting in which `~` is the home directory. */
export const namedPaths = ({ HOME = '/' }: Environment, paths: readonly string[]): string[] =>
  paths.map((path) => path.replace(/^~(?=\/|$)/, HOME)).filter(isAbsolute);

// In a directory that is shown, a place can be covered only if it exists.
const ownPlaces = (home: string, hidden: readonly string[], shown: readonly string[]): Mount[] =>
  OWN_AT_HOME.map((name) => join(existsSync(home) ? realpathSync(home) : home, name))
    .filter((path) => isBelow(hidden)(path))
    .filter((path) => existsSync(path) || !isAtOrBelowAny(path, shown))
    .map((path) => empty(existsSync(path) ? realpathSync(path) : path));

/** Existing paths in a text that the sandbox hides: neither in `home` nor in `seen`. */
export const unseenIn = (text: string, { hidden, shown }: HomeView, seen: readonly string[]) => {
  const named = [...new Set(text.match(PATHS) ?? [])].slice(0, MOST_NAMED);
  const places = [...shown, ...real(seen)];
  return named.filter((path) => {
    if (!existsSync(path)) return false;
    const place = realpathSync(path);
    return isBelow(hidden)(place) && !isAtOrBelowAny(place, places);
  });
};

const PATHS = /\/[\w.@+-]+(?:\/[\w.@+-]+)+/g;
const MOST_NAMED = 100;

// /run is hidden because a program can connect to sockets in a read-only directory.
const hiddenPlaces = (home: string): string[] => {
  const all = ['/home', '/root', '/run', '/var/run', ...(home === '/' ? [] : [home])];
  const found = all.filter(isDirectory).map((path) => realpathSync(path));
  return outermost(found.filter((path) => path !== '/'));
};

const isBelow = (places: readonly string[]) => (path: string) =>
  places.some((place) => path !== place && isAtOrBelow(path, place));

const below = (path: string): string => (path === '/' ? path : `${path}/`);

// With a slash at its end, what lies below a directory directly follows it.
const outermost = (paths: readonly string[]): string[] => {
  const found: string[] = [];
  for (const path of [...new Set(paths)].toSorted((a, b) => (below(a) < below(b) ? -1 : 1)))
    if (!isAtOrBelowAny(path, found.slice(-1))) found.push(path);
  return found;
};

const unique = (mounts: readonly Mount[]): Mount[] => [
  ...new Map(mounts.map((mount) => [mount.path, mount])).values(),
];

/** The files of a PATH directory: its package and the targets of its links. */
const placesOfPath =
  (rootOf: (path: string) => string) =>
  (path: string): string[] => {
    const dir = existsSync(path) ? realpathSync(path) : path;
    const home = rootOf(dir);
    // Homebrew's directory has thousands of links, which all lead to its other directories.
    if (!isAtOrBelow(dir, home) || isAtOrBelow(dir, BREW)) return [path];
    return [
      path,
      ...besides(dir, home),
      ...linkedFrom(dir).flatMap((to) => placesOfProgram(to, rootOf)),
    ];
  };

const linkedFrom = (dir: string): string[] => {
  // A directory that the daemon cannot read is not readable for a run either.
  const paths = orElse(() => readdirSync(dir), []).map((name) => join(dir, name));
  return real(paths.filter(isLink));
};

// Shows a whole package, but never a shared directory such as ~/.config.
const placesOfProgram = (path: string, rootOf: (path: string) => string): string[] => {
  if (!isAbsolute(path) || !existsSync(path)) return [];
  const file = realpathSync(path);
  const home = rootOf(file);
  if (!isAtOrBelow(file, home) || file === home) return [path];
  const modules = file.indexOf(`${sep}node_modules${sep}`);
  if (modules !== -1) return [path, `${file.slice(0, modules)}${sep}node_modules`];
  const dir = dirname(file);
  return [path, file, ...(depth(dir, home) > 1 ? [dir] : []), ...besides(dir, home)];
};

const besides = (dir: string, home: string): string[] => {
  const prefix = dirname(dir);
  if (depth(prefix, home) < 1) return [];
  if (depth(prefix, home) > 1 && !isCommon(prefix, home)) return [prefix];
  return PACKAGE.map((name) => join(prefix, name));
};

const PACKAGE = ['lib', 'lib64', 'libexec', 'include'];
const COMMON = ['.local/share', '.local/state', '.config', '.cache', 'Library'];

const isCommon = (path: string, home: string): boolean => COMMON.includes(relative(home, path));

const depth = (path: string, home: string): number =>
  isAtOrBelow(path, home) ? relative(home, path).split(sep).filter(Boolean).length : 0;

/**
 * Paths below the home directory that programs need and that contain no secrets: tool chains, build caches, git
 * configuration and skills. As the tools define them, like the list that follows.
 */
const SHOWN_AT_HOME: readonly string[] = [
  ...['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'],
  ...['.gitignore', '.gitignore_global', '.gitattributes'],
  ...['.local/bin', '.local/lib', '.local/share/pipx'],
  ...['.local/share/uv', '.local/share/virtualenv'],
  ...['.nvm', '.fnm', '.local/share/fnm', '.volta', '.n', '.bun/bin', '.bun/install', '.deno/bin'],
  ...['.yarn/berry/cache', '.local/share/pnpm', '.cache/ms-playwright'],
  ...['.cache/puppeteer', '.cache/Cypress', '.cache/electron'],
  ...['.local/share/mise', '.local/share/rtx', '.asdf'],
  ...['.tool-versions', '.config/mise/config.toml'],
  ...['.pyenv', '.rye'],
  ...['.rustup', '.cargo/bin', '.cargo/env', '.cargo/registry', '.cargo/git'],
  ...['go/bin', 'go/pkg', 'sdk'],
  ...['.m2/repository', '.m2/wrapper', '.gradle/caches', '.gradle/wrapper', '.gradle/native'],
  ...['.gradle/jdks', '.sdkman', '.jenv', '.jabba', '.ivy2/cache', '.sbt/boot'],
  ...['.rbenv', '.rvm', '.gem/ruby', '.bundle/cache', '.composer/vendor'],
  ...['.dotnet', '.nuget/packages', '.pub-cache', '.ghcup', '.cabal/bin', '.cabal/packages'],
  ...['.cabal/store', '.opam', '.elan', '.juliaup', '.julia/packages', '.julia/artifacts'],
  ...['.julia/compiled', '.conan2/p', '.ccache'],
  // Read by most agents, besides their own skills, which may be links to here.
  '.agents/skills',
  ...['.terraform.d/plugin-cache', '.nix-profile', '.local/state/nix/profiles', '.pixi/bin'],
];

const BREW = '/home/linuxbrew/.linuxbrew';
/** What Homebrew's programs need of its directory on Linux: not the data and the configuration of its services. */
const LINUXBREW: readonly string[] = [
  ...['bin', 'sbin', 'Cellar', 'opt', 'lib', 'libexec', 'include', 'share'],
  ...['etc/ca-certificates', 'etc/openssl@3', 'etc/gitconfig'],
];

/**
 * Directories below the home directory that programs cannot do without writing. A run has its own: private and empty, unless
 * it is given a cache.
 */
const OWN_AT_HOME: readonly string[] = [
  '.cache',
  ...['chromium', 'google-chrome', 'google-chrome-for-testing'].flatMap((name) => [
    `.config/${name}`,
    `.config/${name}-headless`,
  ]),
];

/**
 * Keys, passwords and histories below the home directory: hidden even inside a visible directory, unless the operator names
 * them.
 */
const SECRET_AT_HOME: readonly string[] = [
  ...['.ssh', '.gnupg', '.netrc', '.git-credentials', '.config/git/credentials', '.config/gh'],
  ...['.aws', '.azure', '.config/gcloud', '.kube'],
  ...['.docker', '.colima', '.lima', '.password-store'],
  ...['.local/share/keyrings', '.local/share/containers', '.mozilla', '.config/google-chrome'],
  ...['.config/chromium', '.config/BraveSoftware', 'snap', '.var/app', '.thunderbird'],
  ...['.config/op', '.1password', '.config/1Password', '.config/Bitwarden', '.config/rclone'],
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc', '.pgpass', '.my.cnf', '.config/pip/pip.conf'],
  ...['.config/pypoetry/auth.toml', '.cargo/credentials', '.cargo/credentials.toml'],
  ...['.m2/settings.xml', '.m2/settings-security.xml', '.gradle/gradle.properties'],
  ...['.gem/credentials', '.composer/auth.json', '.config/composer/auth.json'],
  ...['.pub-cache/credentials.json', '.dotnet/corefx', '.nuget/NuGet/NuGet.Config'],
  ...['.terraformrc', '.terraform.d/credentials.tfrc.json', '.vault-token', '.config/doctl'],
  ...['.config/hub', '.config/glab-cli', '.config/heroku'],
  ...['.config/fly', '.fly', '.config/configstore'],
  ...['.bash_history', '.zsh_history', '.zhistory', '.histfile', '.local/share/fish'],
  ...['.python_history', '.node_repl_history', '.psql_history'],
  ...['.mysql_history', '.sqlite_history'],
  ...['.rediscli_history', '.lesshst', '.viminfo', '.irb_history', '.local/state/bash'],
];
