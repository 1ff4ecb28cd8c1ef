import { useContext } from 'preact/hooks';
import type { Webhook } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Section } from '../facts.tsx';
import { ApiForm, PageContext } from '../form.tsx';
import { ShownOnce } from '../links.tsx';

/** Why a webhook sends nothing. */
export const WebhookState = ({ of: { disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && <span class="tag failed">Disabled</span>}
    {trusted === false && <span class="tag trust">Not trusted</span>}
  </>
);

/** Why nothing is sent, and what to do. */
export const DeliveryStopped = ({ of: { id, disabled, trusted } }: { of: Webhook }) => (
  <>
    {disabled === true && (
      <p class="box warn">
        <strong>The webhook is disabled,</strong> by hand or since the receiver responded with 410
        (Gone). To enable it, remove the line <code>disabled: true</code> from its file,{' '}
        <code>{`webhooks/${id}.md`}</code> in the workspace if it was created here, or delete it and
        add it again. Events in between are not sent.
      </p>
    )}
    {trusted === false && (
      <p class="box warn">
        <strong>Nothing is sent to this address.</strong> It was added in a file or by git:{' '}
        <a href="/dashboard/settings/trust">review untrusted values</a>.
      </p>
    )}
  </>
);

/** The events of a webhook. */
export const Events = ({ of }: { of: Webhook['events'] }) => (
  <span class="quiet">
    {of.map((name) => (name === '*' ? 'the default events' : name)).join(', ')}
  </span>
);

/** The disclosure asks and the button confirms. */
export const DeleteWebhook = ({ of: { id, url } }: { of: Webhook }) => (
  <details>
    <summary>
      Delete…
      <span class="unseen"> {visible(url)}</span>
    </summary>
    <ApiForm call={`DELETE /webhooks/${id}`} then="/dashboard/settings/webhooks">
      <p class="quiet">
        Undelivered events and the list of deliveries are deleted. If you add the webhook again, it
        gets a new secret.
      </p>
      <button type="submit" class="danger">
        Delete webhook
      </button>
    </ApiForm>
  </details>
);

type Event = Exclude<Webhook['events'][number], '*'>;

/** Each event type, and whether `*` includes it. */
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

/** The secret of a new webhook. */
export const NewWebhookSecret = () => {
  const { once } = useContext(PageContext);
  return once === undefined ? null : (
    <ShownOnce name="the secret" text={once}>
      <strong>The webhook was added.</strong> The receiver verifies deliveries with its secret.
    </ShownOnce>
  );
};

/** Adds a webhook. */
export const NewWebhook = () => (
  <Section id="new" title="Add a webhook">
    <ApiForm call="POST /webhooks" once="secret" keep class="fields">
      <p>
        <label for="url">URL</label>
        <input
          id="url"
          name="url"
          type="url"
          required
          maxLength={2048}
          autocomplete="off"
          spellcheck={false}
          placeholder="https://example.org/hook"
          data-key="n"
          aria-label="URL"
        />
      </p>
      <fieldset class="events">
        <legend>Events</legend>
        <Check name="*" defaultChecked>
          Default events
        </Check>
        <p class="quiet">{namesOf(true).join(', ')}</p>
        <details>
          <summary>Choose events</summary>
          <div class="checks">
            {[...namesOf(false), ...namesOf(true)].map((name) => (
              <Check key={name} name={name}>
                <code>{name}</code>
              </Check>
            ))}
          </div>
        </details>
      </fieldset>
      <p class="quiet">The daemon generates the signing secret and shows it once.</p>
      <button type="submit" class="primary">
        Add webhook
      </button>
    </ApiForm>
  </Section>
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
