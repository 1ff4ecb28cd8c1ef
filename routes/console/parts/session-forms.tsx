import { ApiForm } from './form.tsx';

interface SendBackProps {
  /** The session's path in the API. */
  at: string;
  /** The keys that focus its field. */
  keys: string;
}

/** Requests changes to a plan. */
export const SendBack = ({ at, keys }: SendBackProps) => (
  <ApiForm call={`POST ${at}/revise`} keep class="line grow">
    <input
      name="comment"
      required
      aria-label="Changes to make"
      placeholder="Changes to make"
      data-key={keys}
    />
    <button type="submit">Request changes</button>
  </ApiForm>
);

/** Aborts a session, after a confirmation. */
export const AbortSession = ({ case_id, id }: { case_id: string; id: string }) => {
  const onToggle = ({ currentTarget }: { currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open) currentTarget.querySelector('button')?.focus();
  };
  return (
    <details class="abort" onToggle={onToggle}>
      <summary class="button" data-key="x">
        Abort
      </summary>
      <ApiForm
        call={`POST /api/cases/${case_id}/session/abort`}
        body={{ session_id: id }}
        class="line"
      >
        <span>The session ends for good. Its changes stay in the worktree.</span>
        <button type="submit" class="danger" data-key="y">
          Abort session
        </button>
      </ApiForm>
    </details>
  );
};
