import { page } from '../common/page.ts';
import type { Document } from '../parts/api/document.ts';
import { ApiList } from '../parts/api/list.tsx';
import { entriesOf, type OperationEntry } from '../parts/api/operation.ts';
import { Help } from '../parts/help-frame.tsx';

interface ApiShown {
  sections: { name: string; description: string }[];
  operations: OperationEntry[];
  /** What is looked for, in the address. */
  search: string;
}

const View = (shown: ApiShown) => (
  <Help tab="API">
    <h1>API</h1>
    <p class="quiet">
      Everything that the console does is one of these calls.{' '}
      <a href="/openapi.json">openapi.json</a> has all of it for programs; the guide to the{' '}
      <a href="/dashboard/help/client">client</a> shows how a script makes them.
    </p>
    <ApiList {...shown} />
  </Help>
);

export const helpApi = page<ApiShown>({
  title: () => 'API',
  load: async (api, { query }) => {
    const document = (await api.call('GET /openapi.json')) as unknown as Document;
    const operations = entriesOf(document);
    const sections = [
      ...document.tags,
      { name: 'Sent to webhooks', description: 'Events, as receivers of webhooks get them' },
    ];
    return { sections, operations, search: query.search ?? '' };
  },
  View,
  follows: false,
});
