import type { Delivery } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Since } from '../since.tsx';
import { Written } from '../written.tsx';

const STATES: Readonly<Record<Delivery['status'], { name: string; kind: string }>> = {
  waiting: { name: 'Waits', kind: '' },
  retrying: { name: 'Tried again', kind: 'paused' },
  delivered: { name: 'Delivered', kind: 'completed' },
  failed: { name: 'Failed', kind: 'failed' },
  closed: { name: 'Not sent', kind: 'failed' },
};

/** What came of it, with what the receiver answered last. */
export const DeliveryTag = ({ of }: { of: Pick<Delivery, 'status' | 'attempts'> }) => {
  const { name, kind } = STATES[of.status];
  const answered = of.attempts.at(-1)?.status ?? undefined;
  return (
    <span class={`tag ${kind}`}>{answered === undefined ? name : `${name}: ${answered}`}</span>
  );
};

interface DeliveryProps {
  delivery: Delivery;
  /** Its path in the API. */
  at: string;
  /** Something can be sent at all. */
  isOpen: boolean;
}

/** One event for one receiver: each attempt, what was sent, and once more. */
export const DeliveryRow = ({ delivery, at, isOpen }: DeliveryProps) => {
  const { id, event_type, status, next_attempt_at, attempts, body } = delivery;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <DeliveryTag of={delivery} />
        <h3 class="title mono">{event_type}</h3>
        <Since at={body.timestamp} />
        {isOpen && status !== 'waiting' && (
          <Do call={`POST ${at}/${id}/redeliver`}>
            <button type="submit" class="small" data-key="r">
              {status === 'retrying' ? 'Try now' : 'Redeliver'}
            </button>
          </Do>
        )}
      </div>
      {status === 'waiting' && <p class="quiet">An earlier one comes first.</p>}
      {next_attempt_at !== null && (
        <p class="quiet">
          Tried again at <Moment at={next_attempt_at} />. Later events wait for it.
        </p>
      )}
      <details>
        <summary data-key="e" title="Attempts and what is sent">
          {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}
          <span class="unseen"> of {event_type}</span>
        </summary>
        {attempts.length > 0 && <Attempts of={attempts} />}
        <p class="quiet">
          Delivery <code>{id}</code>
        </p>
        <pre>{visible(JSON.stringify(body, null, 2))}</pre>
      </details>
    </li>
  );
};

const Attempts = ({ of }: { of: Delivery['attempts'] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Attempt</th>
        <th scope="col">Answer</th>
        <th scope="col">Took</th>
      </tr>
    </thead>
    <tbody>
      {of.map(({ at, status, error, duration_ms }, index) => (
        <tr key={index}>
          <td>
            <Moment at={at} />
          </td>
          <td class={isTaken(status) ? '' : 'bad'}>{status ?? <Written text={error ?? ''} />}</td>
          <td>{duration_ms} ms</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const isTaken = (status: number | null): boolean => Math.floor((status ?? 0) / 100) === 2;

const Moment = ({ at }: { at: string }) => (
  <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 19)} UTC`}</time>
);
