import type { ComponentChildren } from 'preact';
import type { Case, Session } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { labelOf, STATE_LABELS, sessionName } from './labels.ts';
import { FailedCommands, FileProblems } from './problems.tsx';
import { RelativeTime } from './relative-time.tsx';

type TabList = readonly { name: string; at: string; keys: string }[];

interface TabsProps {
  label: string;
  /** The path that the tabs' paths are relative to. */
  base: string;
  tabs: TabList;
  /** The name of the current tab. */
  here: string;
}

interface FrameProps<Tabs extends TabList> {
  /** The current tab. */
  tab: Tabs[number]['name'];
  children: ComponentChildren;
}

/** The tabs of a page. */
const Tabs = ({ label, base, tabs, here }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, at, keys }) => (
      <a
        key={name}
        href={base + at}
        data-key={keys}
        {...(name === here && { 'aria-current': 'page' as const })}
      >
        {name}
      </a>
    ))}
  </nav>
);

const ITEM_TABS = [
  { name: 'Overview', at: '', keys: 't o' },
  { name: 'Planning', at: '/planning', keys: 't l' },
  { name: 'Proof', at: '/proof', keys: 't p' },
  { name: 'Pull request', at: '/pr', keys: 't r' },
  { name: 'Conflicts', at: '/conflicts', keys: 't c' },
  { name: 'Files', at: '/files', keys: 't f' },
  { name: 'Trace', at: '/trace', keys: 't t' },
] as const;

interface ItemProps extends FrameProps<typeof ITEM_TABS> {
  of: Pick<Case, 'id' | 'title' | 'state' | 'type' | 'merged'>;
}

/** The frame of a page about a Work item. */
export const Item = ({ of: { id, title, state, type, merged }, tab, children }: ItemProps) => (
  <article class="item">
    <div class="head">
      <h1>{title}</h1>
      <p class="line">
        <span class={`tag ${state}`}>{STATE_LABELS[state]}</span>
        {merged !== undefined && <MergedTag />}
        <span class="quiet">{type}</span>
        <code class="quiet">{id.slice(0, 8)}</code>
      </p>
    </div>
    <Tabs label="Work item" base={`/dashboard/cases/${id}`} tabs={ITEM_TABS} here={tab} />
    <FileProblems />
    {children}
  </article>
);

export const MergedTag = () => <span class="tag pull-merged">Merged</span>;

const SESSION_TABS = [
  { name: 'Activity', at: '', keys: 't a' },
  { name: 'Plan', at: '/plan', keys: 't p' },
  { name: 'Diff', at: '/diff', keys: 't d' },
] as const;

interface SessionProps extends FrameProps<typeof SESSION_TABS> {
  item: Pick<Case, 'id' | 'title'>;
  of: Session;
}

/** The frame of a page about a session. */
export const SessionPage = ({ item, of: session, tab, children }: SessionProps) => {
  const { id, status, mode, created_at, waits_for } = session;
  const above = `/dashboard/cases/${item.id}`;
  return (
    <article class="session">
      <h1>
        <a href={above} data-key="u">
          {item.title}
        </a>
      </h1>
      <p class="line">
        <span>{sessionName(session)}</span>
        <StatusTag status={status} />
        {waits_for === 'max_sessions' && (
          <span class="quiet">waiting for another session (max_sessions)</span>
        )}
        <span class="quiet">{mode === 'plan' ? 'Plan mode' : 'Work mode'}</span>
        <RelativeTime at={created_at} />
      </p>
      <Tabs label="Session" base={`${above}/sessions/${id}`} tabs={SESSION_TABS} here={tab} />
      <FileProblems />
      <FailedCommands of={session.commands} />
      <Commit of={session} />
      {children}
    </article>
  );
};

const Commit = ({ of: { commit, branch } }: { of: Session }) => {
  if (commit === undefined || (commit.id === null && commit.message === null)) return null;
  return (
    <p class={commit.id === null ? 'box warn' : 'quiet'}>
      {commit.id !== null && `Committed on ${branch}: ${commit.id.slice(0, 12)}. `}
      {commit.message !== null && visible(`${commit.message}. `)}
      {commit.command != null && <code>{commit.command}</code>}
    </p>
  );
};

/** The status of a session. */
export const StatusTag = ({ status }: Pick<Session, 'status'>) => (
  <span class={`tag ${status}`}>{labelOf(status)}</span>
);

const SETTINGS_TABS = [
  { name: 'Projects', at: '/settings', keys: 's p' },
  { name: 'Trust', at: '/settings/trust', keys: 's t' },
  { name: 'Worktrees', at: '/settings/worktrees', keys: 's w' },
  { name: 'Webhooks', at: '/settings/webhooks', keys: 's h' },
  { name: 'Export', at: '/settings/export', keys: 's e' },
  { name: 'Diagnostics', at: '/settings/diagnostics', keys: 's d' },
  { name: 'API keys', at: '/keys', keys: 's k' },
] as const;

/** The frame of a settings page. */
export const Settings = ({ tab, children }: FrameProps<typeof SETTINGS_TABS>) => (
  <article class="settings">
    <h1>Settings</h1>
    <Tabs label="Settings" base="/dashboard" tabs={SETTINGS_TABS} here={tab} />
    <FileProblems />
    {children}
  </article>
);

const HELP_TABS = [
  { name: 'Guides', at: '', keys: 'h g' },
  { name: 'API', at: '/api', keys: 'h a' },
] as const;

/** The frame of a help page. */
export const Help = ({ tab, children }: FrameProps<typeof HELP_TABS>) => (
  <article class="help">
    <Tabs label="Help" base="/dashboard/help" tabs={HELP_TABS} here={tab} />
    {children}
  </article>
);
