/**
 * The settings file of a new workspace: every setting, at its default. `#` directly before a word, or before two and more
 * spaces, marks a setting; `# ` marks a comment.
 */
export const SETTINGS_TEXT = `---
# The settings of this workspace, each at its default. Remove the # to change one. The daemon reads this file as soon as it
# is saved, and reports errors in it. Settings that start programs, name addresses, paths or the base of worktrees, or loosen
# the sandbox apply only after you trust them on this machine: dossier trust.

# The format of the files here, used by Dossier. A newer release updates it.
format: 1

# The provider for planning and work: runbook runs the plan's fenced sh blocks, manual leaves both to you. Each agent below
# providers, or known by name (claude, codex, gemini, opencode, qwen), is a provider too.
provider: runbook

# Agents that speak the Agent Client Protocol. The daemon starts them and never installs one.
#providers:
#  my-agent:
#    kind: acp
#    command: my-agent
#    args: [--acp]
#    model: its-model
#    effort: high
#    env: {}
#    modes: { plan: plan, work: default }
#    state_dirs: []

# How many sessions may plan or work at once. Others are queued.
#max_sessions: 4

# A session fails if its program is silent for idle_minutes without a tool call or question, runs longer than wall_hours, or
# writes more than output_mb. After quiet_seconds without output, the session shows that it waits for its model.
#limits:
#  idle_minutes: 15
#  wall_hours: 8
#  output_mb: 64
#  quiet_seconds: 4

# The git repositories to work on, by name. The flag --repo sets the default one.
#projects:
#  default: /path/to/the/repository

# Worktrees: the directory for new ones; the hours after which an unused one is stale; the prefix and template of branch names;
# the base branch (default: the repository's); commands to run in a new worktree; globs of ignored files, such as .env, to
# copy from your checkout; directories such as node_modules that new worktrees with the same lockfile get as a copy; and whether
# a completed session's work is committed on its branch: end or never.
#worktrees:
#  root: .dossier/worktrees
#  ttl_hours: 168
#  branch_prefix: work/
#  branch_template: "{prefix}{name}"
#  base_branch: main
#  setup: []
#  copy_files: []
#  share: []
#  commit: end

# What an agent may do in Work mode without asking you: ask, allow, a list of command prefixes, or, for execute, plan (the
# commands that you approve with the plan; without an enforced sandbox this means ask).
#permissions:
#  execute: plan
#  fetch: ask

# GitHub or a GitHub Enterprise server: its host; the repository, if git's remotes do not name it; the remotes for the base
# of pull requests and for pushes; the address of its API, if unusual; and the timeout of requests. The token comes from
# gh or the environment. The secret of incoming webhooks is set with the API.
#codehost:
#  kind: github
#  host: github.com
#  repository: owner/name
#  base_remote: upstream
#  push_remote: origin
#  api_url: https://api.github.com
#  timeout_seconds: 30

# Language servers for editors, for rust, typescript and javascript. Default, if on the PATH: rust-analyzer; tsc of
# TypeScript 7, or else typescript-language-server.
#language_servers:
#  rust: { command: rust-analyzer, args: [] }

# auto: agents run in a bubblewrap sandbox where it works. off: without a sandbox. seatbelt: on macOS, untested.
#sandbox: auto

# Further paths that programs in the sandbox may read, such as [~/datasets, /home/shared]. Of your home directory they see
# the directories on the PATH, tool chains and their caches, and git's settings.
#sandbox_readable: []

# The network of programs in the sandbox. proxy: HTTP and HTTPS through a proxy, without services of this machine. host: the
# whole network with services of this machine; Plan mode is not enforced then. Or { allow: [example.com, "*.example.com"] }.
#network: proxy

# Services of this machine that they may reach too, such as a database or a local model; never a Dossier daemon. network and
# allow_local can also be set for each provider.
#allow_local: []

# Variables for the programs of runs. inherit: the value that the daemon was started with.
#env:
#  STAGE: test
#  NPM_TOKEN: { inherit: true }

# Whether every request needs an API key (create one with dossier key) and browsers log in at /dashboard/login.
#require_key: false

# How long, and up to how many megabytes of the journal, events are kept for a webhook that fails. After that its backlog is
# closed: GET /webhooks/:id/deliveries lists the newest 1000 events, which can be redelivered.
#webhooks:
#  retention_hours: 168
#  retention_mb: 256

# Commit each change of a Work item, of these settings and of webhooks to the workspace's git repository.
#autocommit: false
---

# Workspace

All files in this directory are yours to read, edit and move, by hand or through the API. The text below the settings is for
your own notes.
`;
