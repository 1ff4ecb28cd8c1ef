import { useContext } from 'preact/hooks';
import type { Webhook } from '../../../../lib/client/client.ts';
import { Do, InFrame } from '../form.tsx';
import { ShownOnce } from '../links.tsx';
import { Written } from '../written.tsx';

/** Whether anything is sent to a receiver at all. */
export const WebhookState = ({ of: { disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && <span class="tag failed">Disabled</span>}
    {trusted === false && <span class="tag trust">Not trusted</span>}
  </>
);

/** Why nothing is sent, and how to go on. */
export const WhyNot = ({ of: { id, disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && (
      <p class="box warn">
        <strong>The receiver answered 410: it wants no more.</strong> To go on, take the line{' '}
        <code>disabled: true</code> out of its file, <code>{`webhooks/${id}.md`}</code> in the
        workspace if it was made here; or delete it and add it again. What happened in the meantime
        is not sent.
      </p>
    )}
    {trusted === false && (
      <p class="box warn">
        <strong>Nothing is sent to this address yet.</strong> It came by hand or by git:{' '}
        <a href="/dashboard/settings/trust">look at what waits for your trust</a>.
      </p>
    )}
  </>
);

/** What it is told of. */
export const Events = ({ of }: { of: Webhook['events'] }) => (
  <span class="quiet">
    {of.map((name) => (name === '*' ? 'the usual events' : name)).join(', ')}
  </span>
);

/** To open it is the question, to press the button the answer. */
export const DeleteWebhook = ({ of: { id, url } }: { of: Webhook }) => (
  <details>
    <summary>
      Delete…
      <span class="unseen">
        {' '}
        <Written text={url} />
      </span>
    </summary>
    <Do call={`DELETE /webhooks/${id}`} then="/dashboard/settings/webhooks">
      <p class="quiet">
        What was not delivered is dropped, with the list of deliveries. Its secret ends: added
        again, it gets another.
      </p>
      <button type="submit" class="danger">
        Delete this webhook now
      </button>
    </Do>
  </details>
);

type Event = Exclude<Webhook['events'][number], '*'>;

/** Each event, and whether `*` stands for it. */
const EVENTS: Readonly<Record<Event, boolean>> = {
  session_started: true,
  session_completed: true,
  proof_created: true,
  proof_updated: true,
  agent_completed: true,
  case_updated: true,
  case_state_changed: true,
  case_created: false,
  case_deleted: false,
  proof_deleted: false,
  checklist_updated: false,
  session_plan_ready: false,
  session_paused: false,
  session_failed: false,
  session_comments_changed: false,
  permission_requested: false,
  permission_answered: false,
  question_requested: false,
  question_answered: false,
  problem_found: false,
  problem_mended: false,
  trust_needed: false,
  attention_changed: false,
};

/** The secret of the webhook that was added just now. */
export const NewSecret = () => {
  const { once } = useContext(InFrame);
  return once === undefined ? null : (
    <ShownOnce name="the secret" text={once}>
      <strong>The webhook was added.</strong> By its secret the receiver knows that a delivery is
      from here.
    </ShownOnce>
  );
};

/** Registers a receiver. Its secret is answered once. */
export const NewWebhook = () => (
  <section aria-labelledby="new">
    <h2 id="new">Add a webhook</h2>
    <Do call="POST /webhooks" once="secret" class="fields">
      <p>
        <label for="url">URL</label>
        <input
          {...{ id: 'url', name: 'url', type: 'url', required: true, maxLength: 2048 }}
          {...{ autocomplete: 'off', spellcheck: false }}
          placeholder="https://example.org/hook"
          data-key="n"
          aria-label="URL"
        />
      </p>
      <fieldset class="events">
        <legend>Events</legend>
        <Check name="*" defaultChecked>
          The usual ones
        </Check>
        <p class="quiet">{namesOf(true).join(', ')}</p>
        <details>
          <summary>Choose others</summary>
          <div class="checks">
            {[...namesOf(false), ...namesOf(true)].map((name) => (
              <Check key={name} name={name}>
                <code>{name}</code>
              </Check>
            ))}
          </div>
        </details>
      </fieldset>
      <p class="quiet">
        The daemon makes the secret that it signs with, and shows it once, when this is added.
      </p>
      <button type="submit" class="primary">
        Add webhook
      </button>
    </Do>
  </section>
);

const namesOf = (starred: boolean): string[] =>
  Object.entries(EVENTS).flatMap(([name, is]) => (is === starred ? name : []));

interface CheckProps {
  name: string;
  defaultChecked?: boolean;
  children: preact.ComponentChildren;
}

const Check = ({ name, defaultChecked = false, children }: CheckProps) => (
  <label class="check">
    <input type="checkbox" name="events[]" value={name} defaultChecked={defaultChecked} />
    {children}
  </label>
);
