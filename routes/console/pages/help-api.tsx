import { definePage } from '../common/page.ts';
import { Help } from '../parts/frames.tsx';

const LINKS = [
  {
    href: '/openapi.json',
    name: 'OpenAPI document',
    about: 'Every call with its fields, responses and error codes, and every webhook event',
  },
  {
    href: '/dashboard/help/api-access',
    name: 'API access',
    about: 'Guide: callers, keys and limits',
  },
  { href: '/dashboard/help/client', name: 'Client', about: 'Guide: calls from a script' },
  { href: '/dashboard/help/webhooks', name: 'Webhooks', about: 'Guide: events sent to a receiver' },
  { href: '/dashboard/help', name: 'Guides', about: 'All guides' },
] as const;

const View = () => (
  <Help tab="API">
    <h1>API</h1>
    <ul class="rows" aria-label="API">
      {LINKS.map(({ href, name, about }) => (
        <li key={href} class="row" data-row={href} tabIndex={-1}>
          <a class="title" href={href} data-key="o">
            {name}
          </a>
          <p class="quiet">{about}</p>
        </li>
      ))}
    </ul>
  </Help>
);

/** Links to the OpenAPI document and to the guides about the API. */
export const page = definePage({
  title: () => 'API',
  load: async () => ({}),
  View,
  follows: false,
});
