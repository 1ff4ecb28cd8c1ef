import { useState } from 'preact/hooks';
import type { DetectedRepository } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import type { Api } from '../common/page.ts';
import { Do } from './do.tsx';

/** Makes a Work item of an issue, where a code host is known. */
export const FromIssue = ({ host }: { host: string | undefined }) => {
  const [known] = useState(host);
  if (known === undefined) return null;
  return (
    <section aria-labelledby="from-issue">
      <h2 id="from-issue">From an issue</h2>
      <p class="quiet">{`Of ${visible(known)}. The Work item is linked to it from its first moment.`}</p>
      <Do call="POST /api/codehost/issues/import-case" then="/dashboard/cases/{id}" class="line">
        <label for="number">Number</label>
        <input
          {...{ id: 'number', name: 'number:json', type: 'number', min: 1, step: 1 }}
          required
        />
        <button type="submit">Import</button>
      </Do>
    </section>
  );
};

/** Whose issues can be imported. Where there is no such host the browser's console would name it as a failure: the server asks. */
export const hostOf = async ({ call }: Api): Promise<string | undefined> =>
  typeof document !== 'undefined'
    ? undefined
    : call('GET /api/codehost/repo/detect').then(nameOf, () => undefined);

const nameOf = ({ owner, name }: DetectedRepository): string => `${owner}/${name}`;
