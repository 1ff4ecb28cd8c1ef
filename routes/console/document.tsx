import type { ComponentChildren } from 'preact';
import { render } from 'preact-render-to-string';
import { assets } from './assets.ts';
import { type At, type Frame, type Page, titleOf } from './common/page.ts';
import { Shell } from './parts/shell.tsx';

interface DocumentProps {
  frame: Frame;
  /** The page's key in PAGES. */
  name: string;
  at: At;
  page: Page;
  /** The sheets of style/ that apply to the page. */
  style: string;
  shown: object | undefined;
}

/** A page's HTML document, with the data that the browser hydrates from. */
export const Document = ({ frame, name, at, page, style, shown }: DocumentProps) => (
  <html lang="en">
    <Head title={titleOf(page, shown, frame)}>
      {pageModules(name).map((part) => (
        <link rel="modulepreload" href={`/dashboard/assets/${part}`} />
      ))}
      <script type="module" src={`/dashboard/assets/${assets.script}`} />
      <script
        type="application/json"
        id="begin"
        // JSON is not executed, and `jsonForScript` escapes what could end the element.
        dangerouslySetInnerHTML={{
          __html: jsonForScript({ frame, name, at, shown, worker: assets.worker }),
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

// Preloading all modules at once avoids a round trip for each level of imports. `settingsTrust` is in
// settings-trust.tsx.
const pageModules = (name: string): readonly string[] =>
  assets.parts[name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] ?? [];

const jsonForScript = (value: object): string => JSON.stringify(value).replaceAll('<', '\\u003c');

const Head = ({ title, children }: { title: string; children?: ComponentChildren }) => (
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

/** A document without scripts. */
export const plainDocument = (title: string, body: ComponentChildren): string =>
  `<!doctype html>${render(
    <html lang="en">
      <Head title={`${title} · Dossier`} />
      <body data-style="settings">{body}</body>
    </html>,
  )}`;

/** The layout of a page without navigation, for a browser that is not logged in or was refused. */
export const PlainPage = ({ children }: { children: ComponentChildren }) => (
  <>
    <header class="bar">
      <a class="brand" href="/dashboard">
        Dossier
      </a>
    </header>
    <main>{children}</main>
  </>
);
