import { inGroup } from './args/command.ts';
import { AS_JSON, SESSION } from './args/options.ts';
import { NEW_ITEM } from './commands-work.ts';

/** Options for a new session. */
const NEW_SESSION = {
  provider: 'The provider (default: the one in the settings)',
  model: 'The model, by the name that the provider uses',
  effort: 'The reasoning effort, by the name that the provider uses',
  base: 'The base branch of its worktree; current: the branch that is checked out (default: the default branch)',
  force: 'Start even if the agent does not seem to be logged in',
};

/** Commands for sessions, which call the daemon. */
export const SESSIONS = inGroup('Sessions', [
  {
    name: 'run',
    words: '[TITLE...]',
    summary:
      'Create a Work item, plan it, and carry out the plan after your approval; without a terminal, exit with 4 when the plan is ready',
    options: {
      ...NEW_ITEM,
      ...NEW_SESSION,
      project: 'A project in the settings',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/run.ts')).run,
  },
  {
    name: 'start',
    words: 'ITEM [COMMENT...]',
    summary: 'Start a session, which plans and then waits for your approval',
    options: {
      ...NEW_SESSION,
      type: 'The type of the session (default: implementing)',
      project: 'Set the project of the Work item first',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/start.ts')).start,
  },
  {
    name: 'tail',
    words: 'ITEM',
    summary: 'Follow a session; exit with 0 when its work is completed, with 1 if it failed',
    options: {
      lines: 'Start with the last N events (default: 200)',
      session: SESSION,
      json: 'Print each event as a line of JSON, as the API returns it',
    },
    open: async () => (await import('./verbs/tail.ts')).tail,
  },
  {
    name: 'wait',
    words: 'ITEM',
    summary: 'Wait for the plan or the end of a session; exit with 4 if something else needs you',
    options: {
      for: 'plan or done (default: done)',
      timeout: 'Give up after 30s, 10m or 2h, with exit code 5 (default: never)',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/wait.ts')).wait,
  },
  {
    name: 'answer',
    words: 'ITEM',
    summary: 'Answer a permission request or question of an agent',
    options: {
      option: 'For a permission, one of its options; for a question accept, decline or cancel',
      field: 'Fill in a field of a question; may be repeated',
      prefix:
        'The beginning of the commands that allow_prefix or allow_project allows (default: the whole command)',
      request: 'The request to answer, by the beginning of its id, if there are several',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/answer.ts')).answer,
  },
  {
    name: 'say',
    words: 'ITEM TEXT...',
    summary:
      'Send a message to a session, or start another one with it if that has ended; - is standard input',
    options: {
      now: 'Interrupt the agent',
      approve: 'If the session has ended: use the message as the approved plan of the next session',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/say.ts')).say,
  },
  {
    name: 'attach',
    words: 'ITEM [SESSION]',
    summary: "Continue the conversation of a waiting session in the agent's own terminal interface",
    options: { session: SESSION },
    open: async () => (await import('./verbs/attach.ts')).attach,
  },
  {
    name: 'diff',
    words: 'ITEM',
    summary: 'Show the changes of a session',
    options: {
      stat: 'List files with their numbers of changed lines',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/diff.ts')).diff,
  },
  {
    name: 'pause',
    words: 'ITEM',
    summary: 'Pause a session',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).pause,
  },
  {
    name: 'resume',
    words: 'ITEM',
    summary: 'Resume a paused session',
    options: {
      from: 'If it was interrupted inside a block: again, or next',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/pause.ts')).resume,
  },
  {
    name: 'abort',
    words: 'ITEM',
    summary: 'Abort a session, which cannot be undone',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).abort,
  },
  {
    name: 'finish',
    words: 'ITEM',
    summary: 'Finish your own work, in a session of the manual provider',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).finish,
  },
  {
    name: 'dismiss',
    words: 'ITEM',
    summary: 'Mark the work of a completed session as reviewed, and dismiss its overlaps',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).dismiss,
  },
  {
    name: 'mcp',
    words: '',
    summary: 'Serve the Model Context Protocol on standard input and output, for your own clients',
    options: {},
    open: async () => (await import('./verbs/mcp.ts')).mcp,
  },
]);
