import { useContext, useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import { InReach } from './do.tsx';

/** A path, to be taken elsewhere. */
export const Path = ({ name, path }: { name: string; path: string }) => {
  const isLive = useContext(InReach) !== undefined;
  const [isDone, setDone] = useState(false);
  const copy = () => void navigator.clipboard.writeText(path).then(() => setDone(true));
  return (
    <>
      <code>{visible(path)}</code>{' '}
      {isLive && (
        <button type="button" class="small" onClick={copy} aria-label={`Copy ${name}`}>
          {isDone ? 'Copied' : 'Copy'}
        </button>
      )}
    </>
  );
};
