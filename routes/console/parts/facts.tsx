import type { ComponentChildren } from 'preact';
import { visible } from '../../../store/base/visible.ts';

interface SectionProps {
  /** The id of its heading, which links may lead to. */
  id: string;
  title: string;
  children: ComponentChildren;
}

/** A section, named by its heading. */
export const Section = ({ id, title, children }: SectionProps) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** One fact of a `<dl class="facts">`. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

/** A fact as it is written in files and commands. */
export const CodeFact = ({ name, text }: { name: string; text: string }) => (
  <Fact name={name}>
    <code>{visible(text)}</code>
  </Fact>
);

/** What a page shows where there is nothing yet. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
);
