import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import { type Assets, assets } from './assets.ts';
import { type At, type Frame, type Page, titleOf } from './common/page.ts';
import { Shell } from './parts/shell.tsx';

interface DocumentProps {
  frame: Frame;
  /** Of the page, by which the browser finds it. */
  name: string;
  at: At;
  page: Page;
  /** By which of style/ it is drawn. */
  style: string;
  shown: object | undefined;
  assets: Assets;
}

/** A whole document: the page as it is shown, and what the browser's scripts begin with. */
export const Document = ({ frame, name, at, page, style, shown, assets }: DocumentProps) => (
  <html lang="en">
    <Head title={titleOf(page, shown, frame)} assets={assets}>
      {partsOf(name, assets).map((part) => (
        <link rel="modulepreload" href={`/dashboard/assets/${part}`} />
      ))}
      <script type="module" src={`/dashboard/assets/${assets.script}`} />
      <script
        type="application/json"
        id="begin"
        // JSON that no browser runs, and that cannot end its element.
        dangerouslySetInnerHTML={{
          __html: begin({ frame, name, at, shown, worker: assets.worker }),
        }}
      />
    </Head>
    <body data-style={style}>
      <div id="app">
        <Shell frame={frame} page={page} shown={shown} />
      </div>
    </body>
  </html>
);

// At once: the browser would hear of each when the one before it has come. settingsTrust is of settings-trust.tsx.
const partsOf = (name: string, { parts }: Assets): readonly string[] =>
  parts[name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] ?? [];

const begin = (value: object): string => JSON.stringify(value).replaceAll('<', '\\u003c');

interface HeadProps {
  title: string;
  assets: Assets;
  children?: preact.ComponentChildren;
}

const Head = ({ title, assets, children }: HeadProps) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>{title}</title>
    <link rel="icon" href={ICON} />
    <link rel="stylesheet" href={`/dashboard/assets/${assets.style}`} />
    {children}
  </head>
);

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='2' y='1' width='12' height='14' rx='2' fill='%230757b8'/%3E%3Cpath d='M5 5h6M5 8h6M5 11h4' stroke='white' stroke-width='1.4'/%3E%3C/svg%3E";

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
