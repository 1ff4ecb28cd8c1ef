import { useRef, useState } from 'preact/hooks';
import { isBrowser } from '../form.tsx';
import { Markdown } from '../markdown.tsx';

interface TextFieldProps {
  name: string;
  label: string;
  value?: string;
  placeholder?: string;
}

/** A Markdown field, with a preview if scripts run. */
export const MarkdownField = ({ name, label, value = '', placeholder = '' }: TextFieldProps) => {
  const [shown, setShown] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const turn = () => setShown(shown === undefined ? (field.current?.value ?? '') : undefined);
  return (
    <div>
      <div class="line">
        <label for={name}>{label}</label>
        {isBrowser && (
          <button
            type="button"
            class="quiet preview"
            aria-pressed={shown !== undefined}
            onClick={turn}
          >
            Preview
          </button>
        )}
      </div>
      <textarea
        id={name}
        name={name}
        ref={field}
        rows={10}
        placeholder={placeholder}
        defaultValue={value}
        class="code"
        hidden={shown !== undefined}
      />
      {shown !== undefined && (
        <div class="box shown">
          {shown.trim() === '' ? (
            <p class="quiet">Nothing to preview.</p>
          ) : (
            <Markdown text={shown} />
          )}
        </div>
      )}
    </div>
  );
};
