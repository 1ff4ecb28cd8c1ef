import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import { assets } from './assets.ts';
import { Head } from './document.tsx';

/** A document that runs no script. */
export const plainDocument = (title: string, body: ComponentChildren): string =>
  `<!doctype html>${render(
    <html lang="en">
      <Head title={`${title} · Dossier`} assets={assets} />
      <body data-style="settings">{body}</body>
    </html>,
  )}`;

/** What is around a page that leads nowhere: to who has no key yet, or was refused. */
export const Bare = ({ children }: { children: ComponentChildren }) => (
  <>
    <header class="bar">
      <a class="brand" href="/dashboard">
        Dossier
      </a>
    </header>
    <main>{children}</main>
  </>
);
