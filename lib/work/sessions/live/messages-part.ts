import { fenceOff } from '../../../../store/base/text.ts';
import type { SessionMessage } from '../../../../store/records/message.ts';
import { shorten } from '../../../text/wording.ts';

const MOST_SHOWN = 100;
const LONGEST = 4000;

/** What the operator said to a session: a part of session.md. */
export const messagesPart = (messages: readonly SessionMessage[]): string[] => {
  const more = messages.length - MOST_SHOWN;
  const rest = more > 0 ? [`And ${more} more, which are in the front matter.`] : [];
  const parts = messages.slice(0, MOST_SHOWN).flatMap(partOf);
  return parts.length === 0 ? [] : ['## Messages', ...parts, ...rest];
};

const partOf = ({ at, mode, text, sha256, delivered_at }: SessionMessage): string[] => {
  const when = `at ${at.slice(0, 16).replace('T', ' ')} UTC`;
  const approved = mode === 'work' ? `, SHA-256 \`${sha256}\`` : '';
  const unread = delivered_at === null ? ' No agent has read it.' : '';
  return [
    `The operator ${when} in ${mode === 'work' ? 'Work' : 'Plan'} mode${approved}:${unread}`,
    fenceOff(shorten(text, LONGEST), 'markdown'),
  ];
};
