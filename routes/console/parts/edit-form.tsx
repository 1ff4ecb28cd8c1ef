import { useContext, useEffect, useState } from 'preact/hooks';
import { ApiForm, type ApiFormProps, PageContext } from './form.tsx';

/**
 * A form that edits a record. Unsent text keeps the ETag of the version that it was typed over, so that a save replaces no
 * version that came since. After the refusal, which says so, the next save does.
 */
export const EditForm = (form: ApiFormProps) => {
  const { problem } = useContext(PageContext);
  const [over, setOver] = useState<Pick<ApiFormProps, 'if_match'>>();
  useEffect(() => {
    if (problem?.status === 412) setOver(undefined);
  }, [problem]);
  const { if_match } = form;
  const hold = () => setOver((first) => first ?? { if_match });
  // A form is reset after its call succeeded.
  return (
    <div onInput={hold} onReset={() => setOver(undefined)}>
      <ApiForm keep {...form} {...over} onRestore={hold} />
    </div>
  );
};
