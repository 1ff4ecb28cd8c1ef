import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do, InFrame } from '../form.tsx';
import { keepAs, keptAs } from '../storage.ts';
import { PlanDiff } from './diff.tsx';

/** A text that was begun from the version with this ETag. */
interface Draft {
  text: string;
  etag?: string | undefined;
}

const nameOf = (sid: string): string => `plan ${sid}`;

interface EditProps {
  session: Session;
  at: string;
  plan: string;
  etag: string | undefined;
}

/**
 * The plan as it is written, to be written otherwise. What is typed is kept in the browser until it is saved, in all tabs
 * the same; what others write meanwhile is not written over unawares.
 */
export const EditPlan = (props: EditProps) => {
  const { session, at, plan, etag } = props;
  const { draft, type, drop, box } = useDraft(props);
  const { problem } = useContext(InFrame);
  const isRefused = problem?.status === 412 && draft.text !== plan;
  const isOther = draft.etag !== etag;
  return (
    <section aria-label="Edit the plan">
      {(isOther || isRefused) && (
        <div class="box warn" role="alert">
          <p>
            plan.md was changed elsewhere since you began. This is what yours would change of it:
          </p>
          <PlanDiff before={plan} now={draft.text} />
          {isOther ? (
            <div class="line">
              <button type="button" onClick={() => type({ ...draft, etag })}>
                Write mine over it
              </button>
              <button type="button" onClick={() => drop({ text: plan, etag })}>
                Take theirs, drop mine
              </button>
            </div>
          ) : (
            <p>Saving writes yours over it.</p>
          )}
        </div>
      )}
      <div ref={box}>
        <Do
          call={`PUT /cases/${session.case_id}/sessions/${session.id}/plan`}
          if_match={draft.etag}
          then={at}
        >
          <textarea
            class="code tall"
            name="_markdown"
            aria-label="The plan, as Markdown"
            rows={24}
            value={draft.text}
            onInput={({ currentTarget }) => type({ ...draft, text: currentTarget.value })}
            onKeyDown={({ key, ctrlKey, metaKey, currentTarget }: KeyIn) => {
              if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit();
            }}
          />
          <div class="line">
            <button type="submit" class="primary" title="Ctrl+Enter">
              Save the plan
            </button>
            <a class="button" href={at} onClick={() => drop()}>
              Cancel
            </a>
          </div>
        </Do>
      </div>
    </section>
  );
};

type KeyIn = KeyboardEvent & { currentTarget: HTMLTextAreaElement };

const useDraft = ({ session: { id, status }, plan, etag }: EditProps) => {
  const { sent } = useContext(InFrame);
  const box = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState<Draft>({ text: sent ?? plan, etag });
  const name = nameOf(id);
  const drop = (next?: Draft): void => {
    keepAs(name, undefined);
    if (next !== undefined) setDraft(next);
  };
  const type = (next: Draft): void => {
    setDraft(next);
    keepAs(name, next);
  };
  useEffect(() => {
    // One's own plan is on the page of its session: there, one goes about by keys.
    if (status === 'plan_ready') box.current?.querySelector('textarea')?.focus();
    const begun = draftOf(id, plan);
    if (begun !== undefined) setDraft(begun);
    return hearOthers(name, () => setDraft((mine) => keptAs<Draft>(name) ?? mine));
  }, []);
  // Who has typed nothing goes with what others write.
  useEffect(() => {
    if (keptAs(name) === undefined && sent === undefined) setDraft({ text: plan, etag });
  }, [etag]);
  // A form is emptied once its call was made.
  useEffect(() => {
    const form = box.current?.querySelector('form');
    const saved = (): void => drop();
    form?.addEventListener('reset', saved);
    return () => form?.removeEventListener('reset', saved);
  }, []);
  return { draft, type, drop, box };
};

const hearOthers = (name: string, hear: () => void): (() => void) => {
  const listen = ({ key }: StorageEvent): void => {
    if (key === name) hear();
  };
  window.addEventListener('storage', listen);
  return () => window.removeEventListener('storage', listen);
};

// One that was saved, whoever did it, is none any more.
const draftOf = (sid: string, plan: string): Draft | undefined => {
  const draft = keptAs<Draft>(nameOf(sid));
  if (draft === undefined || visible(draft.text) !== plan) return draft;
  keepAs(nameOf(sid), undefined);
  return undefined;
};

interface UnsavedProps extends Pick<EditProps, 'at' | 'plan'> {
  sid: string;
  /** Whether it can be saved still. */
  waits: boolean;
}

/** What was typed into a plan and not saved: it is there until the operator drops it. */
export const Unsaved = ({ sid, at, plan, waits }: UnsavedProps) => {
  const [draft, setDraft] = useState<Draft>();
  const name = nameOf(sid);
  useEffect(() => setDraft(draftOf(sid, plan)), [plan]);
  useEffect(() => hearOthers(name, () => setDraft(keptAs<Draft>(name))), []);
  if (draft === undefined) return null;
  const drop = (): void => {
    keepAs(name, undefined);
    setDraft(undefined);
  };
  return (
    <div class="box warn" role="note">
      <p>You edited this plan by hand, and did not save what you typed.</p>
      {!waits && <pre class="as-written">{visible(draft.text)}</pre>}
      <div class="line">
        {waits && (
          <a class="button" href={`${at}?show=edit`}>
            Go on editing
          </a>
        )}
        <button type="button" onClick={drop}>
          Drop it
        </button>
      </div>
    </div>
  );
};
