import { page } from '../common/page.ts';
import { Help } from '../parts/frames.tsx';

const View = () => (
  <Help tab="API">
    <h1>API</h1>
    <p>
      The console sends no call that the API does not describe. The OpenAPI document lists every
      call with its fields, its responses and its error codes, and every event that webhooks
      receive.
    </p>
    <ul>
      <li>
        <a href="/openapi.json">OpenAPI document</a> (<code>GET /openapi.json</code>)
      </li>
      <li>
        <a href="/dashboard/help/api-access">API access</a>: callers, keys and limits
      </li>
      <li>
        <a href="/dashboard/help/client">Client</a>: calls from a script
      </li>
      <li>
        <a href="/dashboard/help/webhooks">Webhooks</a>: events sent to a receiver
      </li>
      <li>
        <a href="/dashboard/help">All guides</a>
      </li>
    </ul>
  </Help>
);

/** Links to the OpenAPI document and to the guides about the API. */
export const helpApi = page({
  title: () => 'API',
  load: async () => ({}),
  View,
  follows: false,
});
