import { useContext } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import { InFrame } from './do.tsx';

/** What is wrong with the files that this page is about, and where. */
export const Faults = () => (
  <>
    {useContext(InFrame).faults?.map(({ file, code, message, line }) => (
      <div key={`${file} ${code} ${message}`} class="box warn">
        <p>{visible(message)}</p>
        <code class="quiet">{visible(line === undefined ? file : `${file}:${line}`)}</code>
        {!SAYS_ITSELF.has(code) && (
          <p class="quiet">Mend it in an editor: it is read again as soon as it is saved.</p>
        )}
      </div>
    ))}
  </>
);

const SAYS_ITSELF: ReadonlySet<string> = new Set(['gate_not_satisfied', 'held', 'trust_needed']);
