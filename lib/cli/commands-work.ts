import { inGroup } from './args/command.ts';
import { AS_JSON, SESSION } from './args/options.ts';

const ASK = 'A listed command that must ask first; may be repeated';

/** Options for a new Work item. */
export const NEW_ITEM = {
  file: 'A file with the title in its first line, then the description; with a TITLE only the description; - is standard input',
  issue: 'Import the issue with this number, and link it',
  type: 'bug, feature, docs, … (default: task)',
};

/** Commands for Work items, which call the daemon. */
export const WORK = inGroup('Work items', [
  {
    name: 'new',
    words: '[TITLE...]',
    summary: 'Create a Work item; without a title in your editor',
    options: {
      ...NEW_ITEM,
      project: 'A project in the settings',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/new.ts')).newItem,
  },
  {
    name: 'adopt',
    words: '[NAME]',
    summary:
      'List sessions of Claude Code and Codex, worktrees and unmerged branches that are not Work items yet; with a NAME, create a Work item from it',
    options: {
      title: 'The title of the Work item (default: that of the session or commit)',
      type: NEW_ITEM.type,
      file: 'For a session: a file with the text that becomes its memory; - is standard input. Without it and without a terminal, the proposed text is printed',
      'no-changes': 'For a session: do not copy the uncommitted files of its directory',
      project: 'A project in the settings',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/adopt.ts')).adopt,
  },
  {
    name: 'ls',
    words: '[WORD...]',
    summary: 'List Work items, newest first; with words, only those that contain all of them',
    options: { state: 'List only this state: open, planning, …', json: AS_JSON },
    open: async () => (await import('./verbs/ls.ts')).ls,
  },
  {
    name: 'show',
    words: 'ITEM',
    summary: 'Show a Work item and its sessions',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/show.ts')).show,
  },
  {
    name: 'edit',
    words: 'ITEM [FILE]',
    summary:
      'Edit case.md of a Work item, another file of its directory, or plan.md of its session',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/edit.ts')).edit,
  },
  {
    name: 'inbox',
    words: '',
    summary: 'List what needs you, oldest first, each with the command for it',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/inbox.ts')).inbox,
  },
  {
    name: 'proof',
    words: '[add|run|rm] ITEM [FILE|COMMAND...|PROOF]',
    summary:
      'List the proof of a Work item, and what is missing; add: attach a file; run: run a check in the worktree; rm: delete a proof',
    options: { type: 'The type of the proof (default: file; with run: check)', json: AS_JSON },
    open: async () => (await import('./verbs/proof.ts')).proof,
  },
  {
    name: 'verify',
    words: 'ITEM [PROOF]',
    summary: 'Verify a proof (default: the only one that is not verified)',
    options: { force: 'Verify a check that did not pass', json: AS_JSON },
    open: async () => (await import('./verbs/proof.ts')).verify,
  },
  {
    name: 'pr',
    words: 'ITEM',
    summary: 'Show the state of the pull request of a Work item, or create it',
    options: {
      create: 'Push its branch and create the pull request',
      draft: 'Create it as a draft',
      repository: 'The repository to propose it to, where several are possible, as with a fork',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/pr.ts')).pr,
  },
  {
    name: 'merge',
    words: 'ITEM',
    summary:
      'Print the git commands that merge the branch of a Work item; at a terminal, offer to run them',
    options: { squash: 'Merge as one commit', json: AS_JSON },
    open: async () => (await import('./verbs/merge.ts')).merge,
  },
  {
    name: 'close',
    words: 'ITEM',
    summary: 'Close a Work item as not actionable, or with --state RESOLVED as proved',
    options: {
      state: 'RESOLVED if the proof gate is satisfied (default: NON_ISSUE)',
      outcome: 'The reason (default: non_issue, or resolved)',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/close.ts')).close,
  },
  {
    name: 'reopen',
    words: 'ITEM',
    summary: 'Reopen a closed Work item',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/close.ts')).reopen,
  },
  {
    name: 'rm',
    words: 'ITEM',
    summary: 'Delete a Work item and its worktree',
    options: {
      force: 'Delete even if work would be lost; it is kept under a recovery ref of the repository',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/close.ts')).remove,
  },
  {
    name: 'path',
    words: 'ITEM',
    summary: 'Print the path of the worktree of a Work item',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/path.ts')).path,
  },
  {
    name: 'worktrees',
    words: '[list|rm|clean] [ITEM]',
    summary:
      'List worktrees; rm: remove the one of ITEM; clean: remove unused ones and those of closed Work items',
    options: {
      'dry-run': 'With clean: list what would be removed, and remove nothing',
      shared: 'With clean: delete the snapshots of installed directories instead',
      force:
        'With rm: remove even if work would be lost; it is kept under a recovery ref of the repository',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/worktrees.ts')).worktrees,
  },
]);

/** Commands for plans, which call the daemon. */
export const PLANS = inGroup('Plans', [
  {
    name: 'plan',
    words: 'ITEM',
    summary: 'Show the plan of a session, and the commands that will run without asking',
    options: { ask: ASK, session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/plan.ts')).plan,
  },
  {
    name: 'comment',
    words: 'ITEM [TEXT...]',
    summary: 'Comment on the plan, or edit the comments; revise sends them',
    options: {
      on: 'Quote the part of the plan that contains these words',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/comment.ts')).comment,
  },
  {
    name: 'approve',
    words: 'ITEM',
    summary:
      'Show the plan and the commands that will run without asking, and approve them; then the work starts',
    options: {
      hash: 'Without a terminal: all 64 digits of the hash that dossier plan shows',
      ask: ASK,
      follow: 'Then follow the session and show its changes',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/approve.ts')).approve,
  },
  {
    name: 'revise',
    words: 'ITEM [COMMENT...]',
    summary:
      'Request changes to the plan, with a comment or with the unsent comments of comments.md',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/comment.ts')).revise,
  },
]);
