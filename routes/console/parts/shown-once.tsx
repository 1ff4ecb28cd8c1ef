import type { ComponentChildren } from 'preact';
import { Copy } from './copy.tsx';

interface ShownOnceProps {
  /** What it is called: the new key. */
  name: string;
  text: string;
  /** What was made. */
  children: ComponentChildren;
}

/** A secret that was made just now, for the operator to take along. */
export const ShownOnce = ({ name, text, children }: ShownOnceProps) => (
  <div class="box" role="status">
    <p>
      {children} Copy {name} now: it is not shown again.
    </p>
    <p class="line">
      <input class="mono" readOnly value={text} aria-label={name} size={text.length} />
      <Copy class="small" name={name} text={text} />
    </p>
  </div>
);
