import { useContext, useEffect, useState } from 'preact/hooks';
import type { AttentionItem } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { Do, InReach } from '../do.tsx';
import { Markdown } from '../markdown.tsx';
import { SendBack } from '../send-back.tsx';

/** A plan that waits, to be read and answered where it is listed. Without scripts its page is for that. */
export const PlanInPlace = ({ answer, case_id = '', session_id = '' }: AttentionItem) => {
  const api = useContext(InReach);
  const [isOpen, setOpen] = useState(false);
  if (api === undefined) return null;
  const at = `/cases/${case_id}/sessions/${session_id}`;
  return (
    <details
      class="in-place"
      onToggle={({ currentTarget }: { currentTarget: { open: boolean } }) =>
        setOpen(currentTarget.open)
      }
    >
      <summary data-key="p">Read the plan</summary>
      {isOpen && <Plan api={api} id={case_id} sid={session_id} />}
      {isOpen && (
        <div class="answers">
          <Do call={`${answer.method} ${answer.path}`} body={answer.body}>
            <button type="submit" class="primary" data-key="a">
              Approve this plan
            </button>
          </Do>
          <SendBack at={at} keys="r" />
        </div>
      )}
    </details>
  );
};

const Plan = ({ api, id, sid }: { api: Api; id: string; sid: string }) => {
  const [plan, setPlan] = useState<string | undefined>();
  useEffect(() => {
    api
      .call('GET /cases/{id}/sessions/{sid}/plan', { id, sid })
      .then(setPlan, (error: Error) => setPlan(error.message));
  }, [id, sid]);
  return plan === undefined ? <p class="quiet">…</p> : <Markdown text={plan} />;
};
