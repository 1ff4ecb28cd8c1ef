import { useId } from 'preact/hooks';
import type { AttentionItem, QuestionField } from '../../../lib/client/client.ts';
import { utcOf } from '../../../lib/text/wording.ts';
import { ApiForm, CallButton } from './form.tsx';

/** The actions on an inbox item, or a link to the page that has them. */
export const Answers = (item: AttentionItem) => {
  if (item.kind === 'permission') return <Permission {...item} />;
  if (item.kind === 'question') return <Question {...item} />;
  const { kind, answer, resume_at } = item;
  const call = `${answer.method} ${answer.path}`;
  return (
    <>
      {resume_at !== undefined && <p class="quiet">It resumes by itself at {utcOf(resume_at)}.</p>}
      <div class="answers">
        {kind === 'done' && (
          <a class="button" href={attentionLink(item)}>
            Review diff
          </a>
        )}
        {isOneCall(item) ? (
          <CallButton call={call} body={answer.body} keys="a">
            {buttonText(item)}
          </CallButton>
        ) : (
          <a class="button" href={attentionLink(item)} data-key="a">
            {buttonText(item)}
          </a>
        )}
        {kind === 'sync' && (
          <CallButton call={call} body={{ prefer: 'remote' }} keys="r">
            Use the host's version
          </CallButton>
        )}
      </div>
    </>
  );
};

const Permission = ({ answer, options = [] }: AttentionItem) => (
  <div class="answers">
    {options.map(({ option_id, name, kind: leave }, at) => (
      <CallButton
        key={option_id}
        call={`${answer.method} ${answer.path}`}
        body={{ option_id }}
        keys={String(at + 1)}
        button={leave.startsWith('allow') ? 'primary' : ''}
      >
        {name}
      </CallButton>
    ))}
  </div>
);

const Question = ({ answer, fields = [] }: AttentionItem) => {
  const call = `${answer.method} ${answer.path}`;
  return (
    <div class="answers">
      <ApiForm call={call} body={{ action: 'accept' }} keep class="fields">
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
        <button type="submit" class="primary" data-key="a">
          Answer
        </button>
      </ApiForm>
      <CallButton call={call} body={{ action: 'decline' }} keys="d">
        Decline
      </CallButton>
    </div>
  );
};

// Items that must be read or written first have a link instead of a button.
const isOneCall = ({ kind, answer: { method } }: AttentionItem): boolean =>
  method !== 'GET' && kind !== 'conflict' && !(kind === 'manual' && method === 'PUT');

const buttonText = ({ kind, answer: { method } }: AttentionItem): string => {
  if (kind === 'failed' && method === 'PUT') return BUTTONS.blocked;
  return kind === 'manual' && method === 'PUT' ? 'Write plan' : BUTTONS[kind];
};

const BUTTONS: Readonly<Record<AttentionItem['kind'], string>> = {
  plan: 'Review plan',
  permission: 'Allow',
  question: 'Answer',
  done: 'Mark as reviewed',
  failed: 'Start again',
  blocked: 'Reopen',
  paused: 'Resume',
  waiting: 'Show session',
  manual: 'Mark as done',
  conflict: 'Resolve conflict',
  overlap: 'Dismiss',
  review: 'Queue for a session',
  feedback: 'Start session',
  sync: 'Keep my version',
  webhook: 'Delete webhook',
  held: 'Confirm change',
  trust: 'Trust value',
  file: 'Show problem',
};

/** A field of an agent's question. */
const Field = (field: QuestionField) => {
  const id = useId();
  const { name, title = name, required, description } = field;
  return (
    <div>
      <label for={id}>
        {title}
        {!required && <span class="quiet"> (optional)</span>}
      </label>
      {field.type === 'boolean' ? <YesOrNo id={id} {...field} /> : <Entry id={id} {...field} />}
      {description !== undefined && <small class="quiet">{description}</small>}
    </div>
  );
};

type Entered = QuestionField & { id: string };

// An unchecked checkbox sends nothing, so the hidden field sends false.
const YesOrNo = ({ id, name, default: known }: Entered) => (
  <>
    <input type="hidden" name={`content.${name}:json`} value="false" />
    <input
      id={id}
      type="checkbox"
      name={`content.${name}:json`}
      value="true"
      defaultChecked={known === true}
    />
  </>
);

const Entry = (field: Entered) => {
  const { id, name, type, required, options, default: known } = field;
  if (options !== undefined) return <Choice {...field} options={options} />;
  const value = known === undefined ? {} : { value: String(known) };
  if (type === 'number' || type === 'integer') {
    const { minimum: min, maximum: max } = field;
    const number = { type: 'number', step: type === 'integer' ? 1 : 'any', min, max } as const;
    return (
      <input id={id} name={`content.${name}:json`} required={required} {...number} {...value} />
    );
  }
  const { min_length: minLength } = field;
  const kind = required ? '' : '?';
  return (
    <input
      id={id}
      name={`content.${name}${kind}`}
      required={required}
      minLength={minLength}
      {...value}
    />
  );
};

const Choice = ({ id, name, type, required, options = [] }: Entered) => {
  const isMany = type === 'array';
  const sent = `content.${name}${isMany ? '[]' : '?'}`;
  return (
    <select id={id} name={sent} required={required} multiple={isMany}>
      {!isMany && !required && <option value="">–</option>}
      {options.map(({ value, title = value }) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
};

/** The page that has all of an inbox item. */
export const attentionLink = ({ kind, case_id, session_id, answer }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return '/dashboard/settings/trust';
  if (case_id === undefined) return '/dashboard/settings/diagnostics';
  const item = `/dashboard/cases/${case_id}`;
  if (kind === 'conflict' || kind === 'overlap') return `${item}/conflicts`;
  if (kind === 'review' || kind === 'feedback') return `${item}/pr`;
  if (session_id === undefined) return item;
  return `${item}/sessions/${session_id}${sessionTab(kind, answer)}`;
};

const sessionTab = (kind: AttentionItem['kind'], { method }: AttentionItem['answer']): string => {
  if (kind === 'done') return '/diff';
  return kind === 'plan' || (kind === 'manual' && method === 'PUT') ? '/plan' : '';
};
