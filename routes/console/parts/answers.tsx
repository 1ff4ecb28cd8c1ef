import type { AttentionItem } from '../../../lib/client/client.ts';
import { Do } from './do.tsx';
import { QuestionFields } from './question-fields.tsx';

/** What can be answered at once to what waits. */
export const Answers = (item: AttentionItem) => {
  const { kind, answer, options = [], fields = [] } = item;
  const call = `${answer.method} ${answer.path}`;
  if (kind === 'permission')
    return (
      <div class="answers">
        {options.map(({ option_id, name, kind: leave }, at) => (
          <Do key={option_id} call={call} body={{ option_id }}>
            <button
              type="submit"
              data-key={String(at + 1)}
              class={leave.startsWith('allow') ? 'primary' : ''}
            >
              {name}
            </button>
          </Do>
        ))}
      </div>
    );
  if (kind === 'question')
    return (
      <div class="answers">
        <Do call={call} body={{ action: 'accept' }} class="fields">
          <QuestionFields fields={fields} />
          <button type="submit" class="primary" data-key="a">
            Answer
          </button>
        </Do>
        <Do call={call} body={{ action: 'decline' }}>
          <button type="submit" data-key="d">
            Decline
          </button>
        </Do>
      </div>
    );
  const word = WORDS[kind];
  if (word === undefined || answer.method === 'GET') return null;
  return (
    <div class="answers">
      <Do call={call} {...(answer.body !== undefined && { body: answer.body })}>
        <button type="submit" data-key="a">
          {word}
        </button>
      </Do>
      {kind === 'sync' && (
        <Do call={call} body={{ prefer: 'remote' }}>
          <button type="submit" data-key="r">
            Take the host's
          </button>
        </Do>
      )}
    </div>
  );
};

// What has no word here is answered on a page of its own.
const WORDS: Readonly<Partial<Record<AttentionItem['kind'], string>>> = {
  failed: 'Start again',
  held: 'Trust this change',
  trust: 'Trust this value',
  blocked: 'Reopen',
  paused: 'Resume',
  review: 'Queue for a session',
  feedback: 'Start a session',
  sync: 'Keep mine',
  webhook: 'Remove it',
};
