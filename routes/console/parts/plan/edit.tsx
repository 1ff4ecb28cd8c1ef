import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, NotStored, PageContext } from '../form.tsx';
import { readStored, writeStored } from '../storage.ts';
import { TextDiff } from '../text-diff.tsx';
import { useWindow } from '../use-window.ts';

/** An unsaved text, and the ETag of the version that it is based on. */
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
 * Edits a plan. The unsaved text is stored in the browser and shared by all tabs. A version that was saved elsewhere
 * meanwhile is shown, not replaced.
 */
export const EditPlan = (props: EditProps) => {
  const { session, at, plan, etag } = props;
  const { draft, type, drop, box, isStored } = useDraft(props);
  const { problem } = useContext(PageContext);
  const isRefused = problem?.status === 412 && draft.text !== plan;
  const isOther = draft.etag !== etag;
  return (
    <section aria-label="Editor">
      {(isOther || isRefused) && (
        <div class="box warn" role="alert">
          <p>plan.md changed since you began editing. Your text would change it as follows:</p>
          <TextDiff before={plan} after={draft.text} />
          {isOther ? (
            <div class="line">
              <button type="button" onClick={() => type({ ...draft, etag })}>
                Keep my version
              </button>
              <button type="button" onClick={() => drop({ text: plan, etag })}>
                Discard my version
              </button>
            </div>
          ) : (
            <p>Saving overwrites it.</p>
          )}
        </div>
      )}
      {/* A form is reset after its call succeeded. */}
      <div ref={box} onReset={() => drop()}>
        <ApiForm
          call={`PUT /cases/${session.case_id}/sessions/${session.id}/plan`}
          if_match={draft.etag}
          then={at}
        >
          <textarea
            class="code tall"
            name="_markdown"
            aria-label="Plan as Markdown"
            rows={24}
            value={draft.text}
            onInput={({ currentTarget }) => type({ ...draft, text: currentTarget.value })}
          />
          {!isStored && <NotStored />}
          <div class="line">
            <button type="submit" class="primary" title="Ctrl+Enter">
              Save plan
            </button>
            <a class="button" href={at} onClick={() => drop()}>
              Cancel
            </a>
          </div>
        </ApiForm>
      </div>
    </section>
  );
};

const useDraft = ({ session: { id, status }, plan, etag }: EditProps) => {
  const { sent } = useContext(PageContext);
  const box = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState<Draft>({ text: sent?.markdown ?? plan, etag });
  const [isStored, setStored] = useState(true);
  const name = nameOf(id);
  const drop = (next?: Draft): void => {
    writeStored(name, undefined);
    if (next !== undefined) setDraft(next);
  };
  const type = (next: Draft): void => {
    setDraft(next);
    setStored(writeStored(name, next));
  };
  useEffect(() => {
    // A manual plan is edited on the page of its session, where keys are shortcuts.
    if (status === 'plan_ready') box.current?.querySelector('textarea')?.focus();
    const stored = draftOf(id, plan);
    if (stored !== undefined) setDraft(stored);
  }, []);
  useWindow('storage', ({ key }) => {
    if (key === name) setDraft((mine) => readStored<Draft>(name) ?? mine);
  });
  // An editor without changes follows the file.
  useEffect(() => {
    if (readStored(name) === undefined && sent?.markdown === undefined)
      setDraft({ text: plan, etag });
  }, [etag]);
  return { draft, type, drop, box, isStored };
};

// A draft that equals the saved plan is removed.
const draftOf = (sid: string, plan: string): Draft | undefined => {
  const draft = readStored<Draft>(nameOf(sid));
  if (draft === undefined || visible(draft.text) !== plan) return draft;
  writeStored(nameOf(sid), undefined);
  return undefined;
};

interface UnsavedProps extends Pick<EditProps, 'at' | 'plan'> {
  sid: string;
  /** Whether the plan can still be saved. */
  waits: boolean;
}

/** Unsaved text of a plan, until the operator discards it. */
export const Unsaved = ({ sid, at, plan, waits }: UnsavedProps) => {
  const [draft, setDraft] = useState<Draft>();
  const name = nameOf(sid);
  useEffect(() => setDraft(draftOf(sid, plan)), [plan]);
  useWindow('storage', ({ key }) => {
    if (key === name) setDraft(readStored<Draft>(name));
  });
  if (draft === undefined) return null;
  const drop = (): void => {
    writeStored(name, undefined);
    setDraft(undefined);
  };
  return (
    <div class="box warn" role="note">
      <p>You have unsaved changes to this plan.</p>
      {!waits && <pre class="as-written">{visible(draft.text)}</pre>}
      <div class="line">
        {waits && (
          <a class="button" href={`${at}?show=edit`}>
            Continue editing
          </a>
        )}
        <button type="button" onClick={drop}>
          Discard
        </button>
      </div>
    </div>
  );
};
