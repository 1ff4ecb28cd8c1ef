import { useState } from 'preact/hooks';

/** Makes an element a target of dragged cards, marked while one is over it. */
export const useDropTarget = (drop: () => void) => {
  const [isOver, setOver] = useState(false);
  return {
    ...(isOver && { 'data-over': '' }),
    onDragOver: (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent): void => {
      const isInside = (currentTarget as Node).contains(relatedTarget as Node | null);
      setOver(isInside && relatedTarget !== null);
    },
    onDrop: (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      drop();
    },
  };
};
