import { visible } from '../../../../store/base/visible.ts';

/** Of longer differences no more is shown. */
const MOST = 600;

/** A unified difference, line by line. */
export const PullDiff = ({ diff }: { diff: string }) => {
  const lines = diff.replace(/\n$/, '').split('\n');
  if (diff.trim() === '') return <p class="quiet">Nothing would change.</p>;
  return (
    <>
      <div class="lines">
        {lines.slice(0, MOST).map((line, at) => (
          <div key={at} class={`line-of ${kindOf(line)}`}>
            {visible(line) || ' '}
          </div>
        ))}
      </div>
      {lines.length > MOST && <p class="quiet">{`${lines.length - MOST} more lines.`}</p>}
    </>
  );
};

const kindOf = (line: string): string => {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return 'file-of';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'gone' : '';
};
