import { useContext, useState } from 'preact/hooks';
import { isBrowser, PageContext } from './form.tsx';

/**
 * Returns undefined while `version` is the one that was opened, or else a function that opens the new one. A version that
 * comes with the first load after a form of this page is expected, unless another one had come before.
 */
export const useOpened = (version: string | undefined): (() => void) | undefined => {
  const { showing, loaded } = useContext(PageContext);
  const [opened, setOpened] = useState({ version, loaded, isMissed: false });
  const { isMissed } = opened;
  const isAfterForm = loaded !== opened.loaded;
  const open = () => setOpened({ version, loaded, isMissed: false });
  const isSame = version === opened.version;
  if (isSame && !isMissed && !isAfterForm) return undefined;
  if (isSame || opened.version === undefined || (isAfterForm && !isMissed)) {
    open();
    return undefined;
  }
  // A file is gone for a moment while an editor saves it.
  if (version === undefined) return undefined;
  // An event may tell of what a form changed before the load that follows the form.
  const isAwaited = isSending() || showing !== loaded;
  if (!isMissed && !isAwaited) setOpened({ ...opened, isMissed: true });
  return open;
};

const isSending = (): boolean =>
  isBrowser && document.querySelector('form[aria-busy=true]') !== null;

interface ChangedProps {
  /** What changed, as the subject of a sentence. */
  what: string;
  /** Where its new version is: `above`. */
  where: string;
  open: () => void;
}

/** Stands in place of a decision: its button would take a key or a click that was meant for the previous version. */
export const ChangedSinceOpened = ({ what, where, open }: ChangedProps) => (
  <p class="box warn" role="alert">
    {`${what} changed while you read it. The new version is shown ${where}. `}
    <button type="button" onClick={open}>
      Review new version
    </button>
  </p>
);
