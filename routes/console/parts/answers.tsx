import type { AttentionItem } from '../../../lib/client/client.ts';
import { Do } from './do.tsx';
import { placeOf } from './place.ts';
import { QuestionFields } from './question-fields.tsx';

/** What can be answered at once to what waits; where that is not one call, the way to where it is. */
export const Answers = (item: AttentionItem) => {
  if (item.kind === 'permission') return <Permission {...item} />;
  if (item.kind === 'question') return <Question {...item} />;
  const { kind, answer, resume_at } = item;
  const call = `${answer.method} ${answer.path}`;
  return (
    <>
      {resume_at !== undefined && (
        <p class="quiet">
          It goes on by itself at {`${resume_at.slice(0, 10)} ${resume_at.slice(11, 16)} UTC`}.
        </p>
      )}
      <div class="answers">
        {isOneCall(item) ? (
          <Do call={call} {...(answer.body !== undefined && { body: answer.body })}>
            <button type="submit" data-key="a">
              {wordOf(item)}
            </button>
          </Do>
        ) : (
          <a class="button" href={placeOf(item)} data-key="a">
            {wordOf(item)}
          </a>
        )}
        {kind === 'sync' && (
          <Do call={call} body={{ prefer: 'remote' }}>
            <button type="submit" data-key="r">
              Take the host's
            </button>
          </Do>
        )}
      </div>
    </>
  );
};

const Permission = ({ answer, options = [] }: AttentionItem) => (
  <div class="answers">
    {options.map(({ option_id, name, kind: leave }, at) => (
      <Do key={option_id} call={`${answer.method} ${answer.path}`} body={{ option_id }}>
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

const Question = ({ answer, fields = [] }: AttentionItem) => {
  const call = `${answer.method} ${answer.path}`;
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
};

// What somebody has to look at or to write first is no call that a key makes.
const isOneCall = ({ kind, answer: { method } }: AttentionItem): boolean =>
  method !== 'GET' && kind !== 'conflict' && !(kind === 'manual' && method === 'PUT');

const wordOf = ({ kind, answer: { method } }: AttentionItem): string => {
  if (kind === 'failed' && method === 'PUT') return WORDS.blocked;
  return kind === 'manual' && method === 'PUT' ? 'Write the plan' : WORDS[kind];
};

const WORDS: Readonly<Record<AttentionItem['kind'], string>> = {
  plan: 'Read the plan',
  permission: 'Allow',
  question: 'Answer',
  done: 'Mark as reviewed',
  failed: 'Start again',
  blocked: 'Reopen',
  paused: 'Resume',
  waiting: 'Watch it',
  manual: 'Say that it is done',
  conflict: 'Resolve it',
  review: 'Queue for a session',
  feedback: 'Start a session',
  sync: 'Keep mine',
  webhook: 'Remove it',
  held: 'Trust this change',
  trust: 'Trust this value',
  file: 'See what is wrong',
};
