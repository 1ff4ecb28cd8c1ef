import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import { assets } from './assets.ts';
import { Head } from './document.tsx';

/** A document that runs no script. */
export const plainDocument = (title: string, children: ComponentChildren): string =>
  `<!doctype html>${render(
    <html lang="en">
      <Head title={`${title} · Dossier`} assets={assets} />
      <body data-style="settings">
        <header class="bar">
          <a class="brand" href="/dashboard">
            Dossier
          </a>
        </header>
        <main>{children}</main>
      </body>
    </html>,
  )}`;
