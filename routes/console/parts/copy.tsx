import { useContext, useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import { InReach } from './do.tsx';

/** A path, to be taken elsewhere. */
export const Path = ({ name, path }: { name: string; path: string }) => (
  <>
    <code>{visible(path)}</code> <Copy class="small" name={name} text={path} />
  </>
);

interface CopyProps {
  text: string;
  /** What the button says. */
  label?: string;
  /** What is copied, for those who hear it. */
  name: string;
  class?: string;
}

/** Puts a text where the operator can paste it; not there without scripts. */
export const Copy = ({ text, label = 'Copy', name, ...rest }: CopyProps) => {
  const isLive = useContext(InReach) !== undefined;
  const [isDone, setDone] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true));
  const says = isDone ? 'Copied' : label;
  return isLive ? (
    <button type="button" {...rest} onClick={copy} aria-label={`${says}: ${name}`}>
      {says}
    </button>
  ) : null;
};
