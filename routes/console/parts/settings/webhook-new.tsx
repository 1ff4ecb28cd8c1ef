import { useContext } from 'preact/hooks';
import type { Webhook } from '../../../../lib/client/client.ts';
import { Do, InFrame } from '../do.tsx';
import { ShownOnce } from '../shown-once.tsx';

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
