/**
 * The settings file of a new workspace: every setting, at its default. A `#` with no space after it, or with two and
 * more, stands before a setting; one with one space before words.
 */
export const SETTINGS_TEXT = `---
# The settings of this workspace, each at its default. Take the # away to change one; the daemon reads
# this file again as soon as it is saved, and says so when something in it is wrong. What starts programs, names places
# or opens doors holds once you have said so on this machine: dossier trust.

# The form of the files here, for Dossier alone: a newer one brings them into its own.
format: 1

# Who plans and works: runbook runs the plan's fenced sh blocks, manual leaves both to you, and each agent
# under providers, or known by name (claude, codex, gemini, opencode, qwen), has its own name.
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

# How many sessions may plan or work at once; others wait.
#max_sessions: 4

# A program of a session has failed that is silent for so long while it calls no tool and asks nothing, that goes on for so
# long, or that writes more. After so many seconds without a word the session says that it waits for its model.
#limits:
#  idle_minutes: 15
#  wall_hours: 8
#  output_mb: 64
#  quiet_seconds: 4

# The git repositories that are worked on, by name. The flag --repo names the default one.
#projects:
#  default: /path/to/the/repository

# Where worktrees are made (here: in .dossier/worktrees), after how many hours one that is at rest counts as stale,
# how branches are named and what they start from (here: the repository's default branch), the commands to run in
# a new one, the globs of ignored files to copy into it from your own checkout, such as .env, and whether the work of a
# session that completed is committed on its branch: end or never.
#worktrees:
#  root: .dossier/worktrees
#  ttl_hours: 168
#  branch_prefix: work/
#  branch_template: "{prefix}{name}"
#  base_branch: main
#  setup: []
#  copy_files: []
#  commit: end

# What an agent may do in Work mode without asking you: ask, allow, or, for execute, plan (the commands that you approve
# with the plan; ask where no sandbox is enforced), or a list of prefixes of commands that it may run.
#permissions:
#  execute: plan
#  fetch: ask

# GitHub, or a GitHub Enterprise server: its host; which repository is meant, where git's remotes do not tell; which remotes
# pull requests go to and branches are pushed to; where its API is, if not at its usual place; and how long it may
# take to answer. The token comes from gh or the environment, and the secret of incoming webhooks is set by the API.
#codehost:
#  kind: github
#  host: github.com
#  repository: owner/name
#  base_remote: upstream
#  push_remote: origin
#  api_url: https://api.github.com
#  timeout_seconds: 30

# The program that knows a language, for editors: rust, typescript, javascript. Without a setting it is looked for on
# the PATH: rust-analyzer; TypeScript 7's tsc, else typescript-language-server.
#language_servers:
#  rust: { command: rust-analyzer, args: [] }

# auto: agents are shut in with bubblewrap where it works. off: never. seatbelt: on macOS, untried.
#sandbox: auto

# Of your home directory, programs in the sandbox see what the PATH leads to, tool chains and their caches, and git's
# settings. What they need besides, read-only: [~/datasets, /home/shared].
#sandbox_readable: []

# What programs in the sandbox reach. proxy: what speaks HTTP or HTTPS by a proxy, but nothing of this machine. host:
# all of it, this machine's own services too; Plan mode is not enforced then. Or { allow: [example.com, "*.example.com"] }.
#network: proxy

# Services of this machine that they reach all the same, a database or a local model; never a Dossier daemon. Both
# may stand under a provider as well.
#allow_local: []

# Whether every call has to show an API key (dossier key makes one), and a browser logs in at /dashboard/login.
#require_key: false

# How many hours, and how many megabytes of the journal, events are kept for a webhook that does not take them. Then its
# backlog is closed: the newest 1000 are listed by GET /webhooks/:id/deliveries, to be redelivered.
#webhooks:
#  retention_hours: 168
#  retention_mb: 256

# Commit each change of a Work item, of these settings and of webhooks to the workspace's git repository.
#autocommit: false
---

# Workspace

Everything in this directory is yours to read, edit and move, by hand or through the API. What you write here, below
the settings, is for yourself.
`;
