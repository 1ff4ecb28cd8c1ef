import type { Command } from './args/command.ts';
import { AS_JSON, SESSION } from './args/options.ts';
import { NEW_ITEM } from './commands-work.ts';

/** How a session begins. */
const NEW_SESSION = {
  provider: 'Who works (default: that of the settings)',
  model: 'As the provider names it',
  effort: 'How long it thinks, as the provider names it',
  base: 'What its worktree begins from; current: the branch that is checked out (default: the default branch)',
  force: 'Also where the agent seems not to be logged in',
};

/** What an operator does with sessions: each calls the daemon. */
export const SESSIONS: readonly Command[] = [
  {
    name: 'run',
    group: 'Sessions',
    words: '[TITLE...]',
    summary:
      'Make a Work item, show the plan of its session, and on a key carry it out; without a terminal it exits with 4 at the plan',
    options: {
      ...NEW_ITEM,
      ...NEW_SESSION,
      project: 'A project of the settings',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/run.ts')).run,
  },
  {
    name: 'start',
    group: 'Sessions',
    words: 'ITEM [COMMENT...]',
    summary: 'Begin a session; it plans, and waits for your approval',
    options: {
      ...NEW_SESSION,
      type: 'What it is for (default: implementing)',
      project: 'Change its project first',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/start.ts')).start,
  },
  {
    name: 'tail',
    group: 'Sessions',
    words: 'ITEM',
    summary:
      'Show what its session does, as it does it; exits with 0 once its work is done, with 1 where it failed',
    options: {
      lines: 'Begin with the last N events (default: 200)',
      session: SESSION,
      json: 'Each event in a line, as the API tells it',
    },
    open: async () => (await import('./verbs/tail.ts')).tail,
  },
  {
    name: 'wait',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Wait for its plan or its end; exits with 4 when something else needs you',
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
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Answer what its agent asks',
    options: {
      option: 'One of the options of a permission; of a question accept, decline or cancel',
      field: 'Fill in a field of a question; as often as there are fields',
      prefix:
        'What commands begin with that allow_prefix or allow_project allows (default: the whole command)',
      request: 'Which, where it asks several things: the beginning of its id',
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/answer.ts')).answer,
  },
  {
    name: 'say',
    group: 'Sessions',
    words: 'ITEM TEXT...',
    summary: 'Send a message to its session; to one that has ended it begins another',
    options: {
      now: 'Interrupt what the agent does',
      approve: 'After its end: the message is the plan of the next session, and approved',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/say.ts')).say,
  },
  {
    name: 'diff',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Show what its session changed',
    options: { stat: 'Count the lines of each file', session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/diff.ts')).diff,
  },
  {
    name: 'pause',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Stop its session, so that it can go on later',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).pause,
  },
  {
    name: 'resume',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Go on with its paused session',
    options: {
      from: 'After a kill inside a block: again, or next',
      session: SESSION,
      json: AS_JSON,
    },
    open: async () => (await import('./verbs/pause.ts')).resume,
  },
  {
    name: 'abort',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'End its session for good',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).abort,
  },
  {
    name: 'dismiss',
    group: 'Sessions',
    words: 'ITEM',
    summary: 'Mark the work of its completed session as reviewed',
    options: { session: SESSION, json: AS_JSON },
    open: async () => (await import('./verbs/pause.ts')).dismiss,
  },
  {
    name: 'mcp',
    group: 'Sessions',
    words: '',
    summary: 'Serve the Model Context Protocol on standard input and output, for your own clients',
    options: {},
    open: async () => (await import('./verbs/mcp.ts')).mcp,
  },
];
