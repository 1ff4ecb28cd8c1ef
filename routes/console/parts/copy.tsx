import { useContext, useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import { InReach } from './do.tsx';

/** A path, to be taken elsewhere. */
export const Path = ({ name, path }: { name: string; path: string }) => (
  <>
    <code>{visible(path)}</code> <Copy name={name} text={path} />
  </>
);

/** Puts a text where the operator can paste it; not there without scripts. */
export const Copy = ({ name, text }: { name: string; text: string }) => {
  const isLive = useContext(InReach) !== undefined;
  const [isDone, setDone] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true));
  return isLive ? (
    <button
      type="button"
      class="small"
      onClick={copy}
      aria-label={`${isDone ? 'Copied' : 'Copy'} ${name}`}
    >
      {isDone ? 'Copied' : 'Copy'}
    </button>
  ) : null;
};
