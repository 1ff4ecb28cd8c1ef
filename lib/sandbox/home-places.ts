/**
 * Paths below the home directory that programs need and that contain no secrets: tool chains, build caches, git
 * configuration and skills. As the tools define them, like the list that follows.
 */
export const SHOWN_AT_HOME: readonly string[] = [
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

/**
 * Directories below the home directory that programs cannot do without writing. A run has its own: private and empty, unless
 * it is given a cache.
 */
export const OWN_AT_HOME: readonly string[] = [
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
export const SECRET_AT_HOME: readonly string[] = [
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
