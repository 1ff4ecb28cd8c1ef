import type { ComponentType } from 'preact';
import { visible } from '../../../store/base/visible.ts';
import type { Frame, Missing, Page, Told } from '../common/page.ts';
import { saidOf } from '../common/send-form.ts';
import { InFrame } from './form.tsx';

const PLACES = [
  { href: '/dashboard', name: 'Inbox', keys: 'g i' },
  { href: '/dashboard/board', name: 'Board', keys: 'g b' },
  { href: '/dashboard/settings', name: 'Settings', keys: 'g s', also: '/dashboard/keys' },
  { href: '/dashboard/help', name: 'Help', keys: 'g h' },
] as const;

interface ShellProps {
  frame: Frame;
  page: Pick<Page, 'View'>;
  /** Undefined: there is nothing to show, for what is missing. */
  shown: object | undefined;
}

/** What is around every page: where one is, where one can go, and what was refused. */
export const Shell = ({ frame, page, shown }: ShellProps) => {
  const View = page.View as ComponentType<object>;
  return (
    <InFrame.Provider value={frame}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/dashboard">
          Dossier
        </a>
        <nav aria-label="Console">
          {PLACES.map((place) => (
            <Place key={place.href} {...place} frame={frame} />
          ))}
        </nav>
        <a class="button primary" href="/dashboard/new" data-key="c">
          New
        </a>
      </header>
      <main id="main" tabIndex={-1}>
        {frame.problem && <Refused {...frame.problem} />}
        {frame.missing && <NotThere {...frame.missing} isAll={shown === undefined} />}
        {shown !== undefined && <View {...shown} />}
      </main>
    </InFrame.Provider>
  );
};

interface PlaceProps {
  href: string;
  name: string;
  keys: string;
  /** Elsewhere, and a page of this place too. */
  also?: string;
  frame: Frame;
}

const Place = ({ href, name, keys, also, frame }: PlaceProps) => {
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

const NotThere = ({ title, detail, next, on, isAll }: Missing & { isAll: boolean }) => (
  <div class="box error" role="alert">
    {isAll ? <h1>{title}</h1> : <strong>{title}.</strong>}
    <p>
      {visible(detail)} {next}
    </p>
    {on !== undefined && <a href={on.href}>{on.name}</a>}
    {!isAll && <p class="quiet">What is shown below is as it was last.</p>}
  </div>
);

const Refused = (told: Told) => (
  <div class="box error" role="alert" data-status={told.status}>
    {saidOf(told)}
  </div>
);
