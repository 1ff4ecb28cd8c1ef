interface TabsProps {
  label: string;
  /** The path that those of the tabs are below. */
  base: string;
  tabs: readonly { name: string; at: string; keys: string }[];
  /** The name of the one that is shown. */
  here: string | undefined;
}

/** The pages of one thing. */
export const Tabs = ({ label, base, tabs, here }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, at, keys }) => (
      <a
        key={name}
        href={base + at}
        data-key={keys}
        {...(name === here && { 'aria-current': 'page' as const })}
      >
        {name}
      </a>
    ))}
  </nav>
);
