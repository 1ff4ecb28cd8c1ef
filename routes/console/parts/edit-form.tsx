import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ApiForm, type ApiFormProps, PageContext } from './form.tsx';

/** The version of a record that was not there: no record has this ETag. */
const ABSENT = 'absent';

/**
 * A form that edits a record. Unsent text keeps the ETag of the version that it was typed over, so that a save replaces no
 * version that came since. After the refusal of this form, which says so, its next save does.
 */
export const EditForm = (form: ApiFormProps) => {
  const { problem, refused } = useContext(PageContext);
  const box = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<string>();
  useEffect(() => {
    if (problem?.status === 412 && box.current === (refused as Element | undefined)?.parentElement)
      setOver(undefined);
  }, [problem]);
  const { if_match } = form;
  const hold = () => setOver((first) => first ?? if_match ?? ABSENT);
  const isStillAbsent = over === ABSENT && if_match === undefined;
  // A form is reset after its call succeeded.
  return (
    <div ref={box} onInput={hold} onReset={() => setOver(undefined)}>
      <ApiForm
        keep
        {...form}
        if_match={isStillAbsent ? undefined : (over ?? if_match)}
        onRestore={hold}
      />
    </div>
  );
};
