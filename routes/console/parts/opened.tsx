import { useContext, useState } from 'preact/hooks';
import { PageContext } from './form.tsx';

/**
 * Returns undefined while `version` is the one that was opened, or else a function that opens the new one. A version that
 * comes with the first load after a form of this page is expected.
 */
export const useOpened = (version: string | undefined): (() => void) | undefined => {
  const { loaded } = useContext(PageContext);
  const [opened, setOpened] = useState({ version, loaded });
  const isOther = version !== undefined && version !== opened.version;
  const isAfterForm = loaded !== opened.loaded;
  const open = () => setOpened({ version: version ?? opened.version, loaded });
  if (isOther && opened.version !== undefined && !isAfterForm) return open;
  if (isOther || isAfterForm) open();
  return undefined;
};

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
