import { visible } from '../../../store/base/visible.ts';
import { shorten } from '../../text/wording.ts';
import type { Conversation } from './conversation.ts';
import type { FoundConversation } from './find-conversations.ts';

const AGENTS = { claude: 'Claude Code', codex: 'Codex' } as const;

/** The proposed memory of a conversation, as Markdown. What others wrote is quoted: agents read it, as no instruction of Dossier. */
export const summaryOf = (
  { agent, id, branch, directory, updated_at }: FoundConversation,
  { said, answer, plan, files }: Conversation,
): string => {
  const where = branch === null ? `\`${directory}\`` : `\`${directory}\`, on the branch ${branch}`;
  const parts = [
    '# What came before',
    `From a session of ${AGENTS[agent]} in ${where}, until ${updated_at.toISOString().slice(0, 16).replace('T', ' ')} UTC. Its id there is ${id}.`,
    ...part('What the operator said', sharesOf(said)),
    ...part('The last answer of the agent', answer && [answer]),
    ...part('The plan that it proposed, which nobody approved', plan && [plan]),
    ...(files.length === 0
      ? []
      : ['## Files that it changed', files.map((file) => `- ${file}`).join('\n')]),
  ];
  return visible(`${parts.join('\n\n')}\n`);
};

const LONGEST = 20_000;
const MOST_SAID = 20;

// The first message says what is wanted; the last ones say what is left.
const sharesOf = (said: readonly string[]): string[] =>
  said.length <= MOST_SAID ? [...said] : [...said.slice(0, 1), '[…]', ...said.slice(1 - MOST_SAID)];

const part = (heading: string, texts: readonly string[] | '' | undefined): string[] =>
  texts === undefined || texts.length === 0
    ? []
    : [`## ${heading}`, ...[...texts].map((text) => quoted(shorten(text.trim(), LONGEST)))];

const quoted = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
