import type { ComponentChildren } from 'preact';
import type { Case, Session } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { Failures } from './failures.tsx';
import { Faults } from './faults.tsx';
import { Since } from './since.tsx';
import { Tabs } from './tabs.tsx';

const TABS = [
  { name: 'Activity', at: '', keys: 't a' },
  { name: 'Plan', at: '/plan', keys: 't p' },
  { name: 'Diff', at: '/diff', keys: 't d' },
] as const;

interface SessionProps {
  item: Pick<Case, 'id' | 'title'>;
  of: Session;
  /** The tab that is shown, by its name. */
  tab: (typeof TABS)[number]['name'];
  children: ComponentChildren;
}

/** A page of one session: which it is, of what, and how it stands. */
export const SessionPage = ({ item, of: session, tab, children }: SessionProps) => {
  const { id, type, provider, model, status, mode, created_at, waits_for } = session;
  const above = `/dashboard/cases/${item.id}`;
  return (
    <article class="session">
      <h1>
        <a href={above} data-key="u">
          {item.title}
        </a>
      </h1>
      <p class="line">
        <span>{`${type}, ${model === undefined ? provider : `${provider} ${model}`}`}</span>
        <StatusTag status={status} />
        {waits_for === 'max_sessions' && (
          <span class="quiet">waits for a place (max_sessions)</span>
        )}
        <span class="quiet">{mode === 'plan' ? 'Plan mode' : 'Work mode'}</span>
        <Since at={created_at} />
      </p>
      <Tabs label="Of this session" base={`${above}/sessions/${id}`} tabs={TABS} here={tab} />
      <Faults />
      <Failures of={session.commands} />
      <Commit of={session} />
      {children}
    </article>
  );
};

const Commit = ({ of: { commit, branch } }: { of: Session }) => {
  if (commit === undefined) return null;
  return (
    <p class={commit.id === null ? 'box warn' : 'quiet'}>
      {commit.id !== null && `Committed on ${branch}: ${commit.id.slice(0, 12)}. `}
      {commit.message !== null && visible(`${commit.message}. `)}
      {commit.command != null && <code>{commit.command}</code>}
    </p>
  );
};

/** How a session stands, in a word. */
export const StatusTag = ({ status }: Pick<Session, 'status'>) => (
  <span class={`tag ${status}`}>{status.replace('_', ' ')}</span>
);
