/** Ignores the second click of a double click on a decision: it would press what the first one brought to its place. */
export const ignoreSecondClicks = (): void => {
  let first: Element | null = null;
  const onClick = (event: MouseEvent): void => {
    const { target, detail } = event;
    const button = target instanceof Element ? target.closest('button, summary') : null;
    const isSame = button === first;
    if (detail <= 1) first = button;
    else if (button !== null && !(isSame && button.matches(':not([type=submit])'))) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  document.addEventListener('click', onClick, { capture: true });
};
