import type { ComponentType } from 'preact';
import { visible } from '../../../store/base/visible.ts';
import type { Done, Frame, Missing, Page, SentText } from '../common/page.ts';
import { PageContext, ProblemBox } from './form.tsx';

const NAV = [
  { href: '/dashboard', name: 'Inbox', keys: 'g i' },
  { href: '/dashboard/board', name: 'Board', keys: 'g b' },
  { href: '/dashboard/settings', name: 'Settings', keys: 'g s', also: '/dashboard/keys' },
  { href: '/dashboard/help', name: 'Help', keys: 'g h' },
] as const;

interface ShellProps {
  frame: Frame;
  page: Pick<Page, 'View'>;
  /** Undefined if the page cannot be loaded. */
  shown: object | undefined;
}

/** The layout of every page: navigation, errors and the page. */
export const Shell = ({ frame, page, shown }: ShellProps) => {
  const View = page.View as ComponentType<object>;
  return (
    <PageContext.Provider value={frame}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/dashboard">
          Dossier
        </a>
        <nav aria-label="Console">
          {NAV.map((place) => (
            <NavLink key={place.href} {...place} frame={frame} />
          ))}
        </nav>
        <a class="button primary" href="/dashboard/new" data-key="c">
          New
        </a>
      </header>
      <main id="main" tabIndex={-1}>
        <DoneNotice done={frame.done} path={frame.path} />
        {frame.down !== undefined && <DownBanner {...frame} />}
        {frame.problem && frame.refused === undefined && (
          <ProblemBox {...frame.problem} class="notice" />
        )}
        {frame.sent && <Sent {...frame.sent} />}
        {frame.missing && <MissingBanner {...frame.missing} isAll={shown === undefined} />}
        {shown !== undefined && <View {...shown} />}
      </main>
    </PageContext.Provider>
  );
};

/** Gives back the text of a refused form, whose fields are new where there are no scripts. */
const Sent = ({ fields }: SentText) =>
  fields.length === 0 ? null : (
    <section class="box fields" aria-label="What was not saved">
      <p>This was not saved:</p>
      {fields.map(([name, text]) => (
        <div key={name}>
          <label for={`sent-${name}`}>Sent: {name.replaceAll('_', ' ')}</label>
          {text.includes('\n') ? (
            <textarea id={`sent-${name}`} readOnly defaultValue={text} />
          ) : (
            <input id={`sent-${name}`} readOnly defaultValue={text} />
          )}
        </div>
      ))}
    </section>
  );

interface NavLinkProps {
  href: string;
  name: string;
  keys: string;
  /** A further path that belongs to this link. */
  also?: string;
  frame: Frame;
}

const NavLink = ({ href, name, keys, also, frame }: NavLinkProps) => {
  const [here] = frame.path.split('?');
  const isHere =
    href === '/dashboard' ? here === href : here === also || here?.startsWith(href) === true;
  const isCounted = href === '/dashboard' && frame.waiting > 0;
  return (
    <a href={href} data-key={keys} {...(isHere && { 'aria-current': 'page' as const })}>
      {name}
      {isCounted && <span class="unseen">, </span>}
      {isCounted && (
        <span class="badge">
          {frame.waiting}
          <span class="unseen"> waiting</span>
        </span>
      )}
    </a>
  );
};

const MissingBanner = ({ title, detail, next, on, isAll }: Missing & { isAll: boolean }) => (
  <div class="box error" role="alert">
    {isAll ? <h1>{title}</h1> : <strong>{title}.</strong>}
    <p>
      {visible(detail)} {next}
    </p>
    {on !== undefined && <a href={on.href}>{on.name}</a>}
    {!isAll && <p class="quiet">The last known state is shown below.</p>}
  </div>
);

const DownBanner = ({ down, path }: Frame) => (
  <div class="box error notice" role="alert">
    {down === 'out' ? (
      <>
        You are logged out. <a href={`/dashboard/login?back=${encodeURIComponent(path)}`}>Log in</a>
      </>
    ) : (
      'The daemon does not respond. This page may be out of date. It reconnects by itself.'
    )}
  </div>
);

// The element is always there, so that screen readers hear of its first text.
const DoneNotice = ({ done: { text, on } = NOTHING, path }: Pick<Frame, 'done' | 'path'>) => {
  const leads = on !== undefined && on.href !== path;
  return (
    <div aria-live="polite" class={leads ? 'box good notice' : 'unseen'}>
      {text} {leads && <a href={on.href}>{on.name}</a>}
    </div>
  );
};

const NOTHING: Done = { text: '' };
