import type { Command } from './args/command.ts';
import { AS_JSON, SESSION } from './args/options.ts';

/** What `ask` means. */
const ASK = 'A command of that list that is asked for all the same; as often as needed';

/** What a new Work item is. */
export const NEW_ITEM = {
  file: 'Its title, in the first line, and its description; with a TITLE the description; - is standard input',
  issue: 'Make it of the issue with this number, and link it',
  type: 'bug, feature, docs, … (default: task)',
};

/** What an operator does with Work items and plans: each calls the daemon. */
export const WORK: readonly Command[] = [
  {
    name: 'new',
    group: 'Work items',
    words: '[TITLE...]',
    summary: 'Make a Work item, in an editor where nothing says what it is',
    options: {
      ...NEW_ITEM,
      project: 'A project of the settings',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/new.ts')).newItem,
  },
  {
    name: 'ls',
    group: 'Work items',
    words: '[WORD...]',
    summary: 'List Work items, newest first; with words: those that have all of them',
    options: { state: 'In this state alone: open, planning, …', json: AS_JSON },
    open: async () => (await import('./verbs/ls.ts')).ls,
  },
  {
    name: 'show',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Show a Work item and its sessions',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/show.ts')).show,
  },
  {
    name: 'edit',
    group: 'Work items',
    words: 'ITEM [FILE]',
    summary:
      'Open its case.md, another file of its directory, or plan.md of its session in your editor',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/edit.ts')).edit,
  },
  {
    name: 'inbox',
    group: 'Work items',
    words: '',
    summary: 'List what waits for you, oldest first, and the command that answers it',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/inbox.ts')).inbox,
  },
  {
    name: 'proof',
    group: 'Work items',
    words: '[add|run] ITEM [FILE|COMMAND...]',
    summary:
      'List its proof and what its gate misses; with add: attach a file; with run: run a check in its worktree',
    options: { type: 'What kind of proof it is (default: file, of a run: check)', json: AS_JSON },
    open: async () => (await import('./verbs/proof.ts')).proof,
  },
  {
    name: 'verify',
    group: 'Work items',
    words: 'ITEM PROOF',
    summary: 'Say that a proof holds',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/proof.ts')).verify,
  },
  {
    name: 'pr',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Show how its pull request stands, or make it',
    options: { create: 'Push its branch and propose it', draft: 'As a draft', json: AS_JSON },
    open: async () => (await import('./verbs/pr.ts')).pr,
  },
  {
    name: 'merge',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Print the git commands that merge its branch; at a terminal, on a yes, run them',
    options: { squash: 'All of it as one commit', json: AS_JSON },
    open: async () => (await import('./verbs/merge.ts')).merge,
  },
  {
    name: 'close',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Close a Work item that needs no work',
    options: { outcome: 'Why (default: non_issue)', json: AS_JSON },
    open: async () => (await import('./verbs/close.ts')).close,
  },
  {
    name: 'reopen',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Open a closed Work item again',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/close.ts')).reopen,
  },
  {
    name: 'rm',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Delete a Work item and its worktree',
    options: {
      force: 'Also where work would be lost; it is kept under a recovery ref of the repository',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/close.ts')).remove,
  },
  {
    name: 'path',
    group: 'Work items',
    words: 'ITEM',
    summary: 'Print where its worktree is, and nothing else',
    options: { json: AS_JSON },
    open: async () => (await import('./verbs/path.ts')).path,
  },
  {
    name: 'worktrees',
    group: 'Work items',
    words: '[list|rm|clean] [ITEM]',
    summary:
      'List the worktrees; rm: remove that of ITEM; clean: remove those of closed Work items and those long unused',
    options: {
      'dry-run': 'With clean: list what it would remove, and remove nothing',
      force:
        'With rm: also where work would be lost; it is kept under a recovery ref of the repository',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/worktrees.ts')).worktrees,
  },
  {
    name: 'plan',
    group: 'Plans',
    words: 'ITEM',
    summary: 'Show the plan of its session, and which of its commands will run without asking',
    options: { ask: ASK, session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/plan.ts')).plan,
  },
  {
    name: 'comment',
    group: 'Plans',
    words: 'ITEM [TEXT...]',
    summary: 'Comment on the plan, or edit its comments; revise sends them',
    options: { on: 'The part of the plan that has these words', session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/comment.ts')).comment,
  },
  {
    name: 'approve',
    group: 'Plans',
    words: 'ITEM',
    summary:
      'Show the plan and the commands that will run without asking, ask, and approve just these; then the work begins',
    options: {
      hash: 'All 64 digits of the hash that dossier plan shows, where nobody can be asked',
      ask: ASK,
      follow: 'Then show what its session does, and what it changed',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/approve.ts')).approve,
  },
  {
    name: 'revise',
    group: 'Plans',
    words: 'ITEM [COMMENT...]',
    summary:
      'Send the plan back, with a comment, or with what comments.md says that was not sent yet',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/comment.ts')).revise,
  },
];
