import { basename } from 'node:path';
import type { Conversation, JsonObject } from '../sandbox/state/place.ts';

/** How the agents write a conversation down, and where it says of which project it is. Facts of the agents' releases. */

/** Its shell may go elsewhere meanwhile: the first directory is the project. */
export const CLAUDE: Conversation = { project: ({ cwd }) => cwd, counts: 'first' };

/** It goes on with a conversation in the directory that was written down last. */
export const CODEX: Conversation = {
  project: ({ type, payload }) =>
    type === 'session_meta' || type === 'turn_context' ? (payload as JsonObject)?.cwd : undefined,
};

/** What follows `$set` replaces what the first line says. */
export const GEMINI: Conversation = {
  project: ({ projectHash, $set }) => projectHash ?? ($set as JsonObject)?.projectHash,
};
/** As older releases write it. */
export const GEMINI_WHOLE: Conversation = {
  project: ({ projectHash }) => projectHash,
  messages: 'messages',
};

export const QWEN: Conversation = { project: ({ cwd }) => cwd };

/** As Gemini CLI names the directory of a project. */
export const geminiName = (project: string): string =>
  basename(project)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'project';
