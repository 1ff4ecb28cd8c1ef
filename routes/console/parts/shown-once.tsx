import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Copy } from './copy.tsx';

interface ShownOnceProps {
  /** What it is called: the new key. */
  name: string;
  text: string;
  /** What was made. */
  children: ComponentChildren;
}

/** A secret that was made just now, for the operator to take along: selected where it can be, wherever the form was. */
export const ShownOnce = ({ name, text, children }: ShownOnceProps) => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [text]);
  return (
    <div class="box" role="status">
      <p>
        {children} Copy {name} now: it is not shown again.
      </p>
      <p class="line">
        <input
          {...{ ref: field, class: 'mono', readOnly: true, size: text.length }}
          value={text}
          aria-label={name}
        />
        <Copy class="small" name={name} text={text} />
      </p>
    </div>
  );
};
